"""A scene in Sionna RT: one transmitter and one receiver that can be moved, its paths with every interaction."""

import math
import subprocess
import sys

from magnetar.sionna.scene import InputError

# Rays per source by the most interactions of a path: a deeper path is met by fewer rays.
SAMPLES_PER_SOURCE = {1: 1_000_000, 2: 2_000_000, 3: 2_000_000}


def solver_options(max_order, transmission):
    """What the path solver is called with."""
    return {
        "max_depth": max_order,
        "samples_per_src": SAMPLES_PER_SOURCE[max_order],
        "los": True,
        "specular_reflection": True,
        "diffuse_reflection": False,
        "refraction": transmission,
        "diffraction": False,
        "seed": 42,
    }


def digits(value):
    """A float32 with the nine digits that identify it."""
    return float(f"{float(value):.9g}")


def check_llvm():
    """Dr.Jit aborts the process if its LLVM lacks an instruction, so it is tried in another one."""
    code = "import drjit as dr; from drjit.llvm import Float; print(dr.maximum(dr.arange(Float, 4), 1))"
    if subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode != 0:
        raise InputError(
            "Dr.Jit cannot compile with the LLVM library it finds; install LLVM 17 or newer (Debian: libllvm19) "
            "and point DRJIT_LIBLLVM_PATH at its libLLVM.so"
        )


class Tracer:
    """A scene in Sionna RT with one transmitter and one receiver that can be moved.

    With `transmission` every box is one sheet at its mid-plane: Sionna RT applies the whole slab at each surface that a
    ray crosses, so a closed box would count twice. `pattern` names a registered antenna pattern for both ends.
    """

    def __init__(self, scene, frequency_hz, max_order=1, transmission=False, pattern="iso"):
        # Imported here so that mistakes in files and flags are reported at once.
        import mitsuba as mi
        import sionna.rt as rt

        self.mi, self.rt, self.variant = mi, rt, mi.variant()
        self.options = solver_options(max_order, transmission)
        faces = scene.sheets() if transmission else scene.faces()
        self.scene = rt.load_scene()
        self.scene.frequency = frequency_hz
        self.radio_materials = {}
        self.scene.edit(
            add=[
                rt.SceneObject(mi_mesh=self.mesh(label, corners), name=label, radio_material=self.radio_material(layer))
                for label, corners, layer in faces
            ]
        )
        self.label_of = {int(item.object_id): name for name, item in self.scene.objects.items()}
        array = {"num_rows": 1, "num_cols": 1, "pattern": pattern, "polarization": "V"}
        self.scene.tx_array = rt.PlanarArray(**array)
        self.scene.rx_array = rt.PlanarArray(**array)
        self.tx = rt.Transmitter("tx", position=[0.0, 0.0, 0.0])
        self.rx = rt.Receiver("rx", position=[0.0, 0.0, 0.0])
        self.scene.add([self.tx, self.rx])
        self.solver = rt.PathSolver(deterministic=True)

    def mesh(self, label, corners):
        properties = self.mi.Properties()
        properties["face_normals"] = True
        mesh = self.mi.Mesh(label, vertex_count=4, face_count=2, props=properties)
        parameters = self.mi.traverse(mesh)
        parameters["vertex_positions"] = [value for corner in corners for value in corner]
        parameters["faces"] = [0, 1, 2, 0, 2, 3]
        parameters.update()
        return mesh

    def radio_material(self, layer):
        """Sionna RT's own material of this name where its values are the same, otherwise one with our values."""
        if layer not in self.radio_materials:
            name = f"material-{len(self.radio_materials)}"
            if self.is_itu(layer):
                radio = self.rt.ITURadioMaterial(name, layer.material, thickness=layer.thickness)
            else:
                radio = self.rt.RadioMaterial(name, layer.thickness, layer.eps_r, layer.sigma)
            self.radio_materials[layer] = radio
        return self.radio_materials[layer]

    def is_itu(self, layer):
        from sionna.rt.radio_materials.itu import itu_material

        try:
            theirs = [float(value[0]) for value in itu_material(layer.material, self.scene.frequency)]
        except (ValueError, KeyError):
            return False
        ours = (layer.eps_r, layer.sigma)
        same = all(math.isclose(t, o, rel_tol=1e-5, abs_tol=1e-9) for t, o in zip(theirs, ours))
        if not same:
            print(f"note: {layer.material} here is {ours}, in Sionna RT {theirs}; using the former", file=sys.stderr)
        return same

    def material(self, layer):
        """A material for the export, its values as Sionna RT uses them."""
        radio = self.radio_material(layer)
        values = (radio.relative_permittivity, radio.conductivity, radio.thickness)
        eps_r, sigma, thickness = (digits(value[0]) for value in values)
        kind = "itu" if isinstance(radio, self.rt.ITURadioMaterial) else "name"
        return {kind: layer.material, "eps_r": eps_r, "sigma": sigma, "thickness": thickness}

    def solve(self, tx, rx):
        """Sionna RT's own `Paths` of a link."""
        self.tx.position, self.rx.position = tx, rx
        return self.solver(self.scene, **self.options)

    def trace(self, tx, rx):
        """The paths of a link, LOS first, then by delay: interactions, `tau`, `a` and the four angles."""
        found = self.solve(tx, rx)
        real, imaginary = (part.numpy().ravel() for part in found.a)
        names = ("tau", "theta_t", "phi_t", "theta_r", "phi_r")
        columns = {name: getattr(found, name).numpy().ravel() for name in names}
        valid = found.valid.numpy().ravel()
        depth = self.options["max_depth"]
        kinds = found.interactions.numpy().reshape(depth, -1)
        objects = found.objects.numpy().reshape(depth, -1)
        vertices = found.vertices.numpy().reshape(depth, -1, 3)
        paths = []
        for i in range(len(real)):
            if not valid[i]:
                continue
            met = [n for n in range(depth) if int(kinds[n, i]) != int(self.rt.InteractionType.NONE)]
            path = {
                "interactions": [
                    {
                        "type": self.kind(kinds[n, i]),
                        "object": self.label_of[int(objects[n, i])],
                        "vertex": [digits(value) for value in vertices[n, i]],
                    }
                    for n in met
                ],
                "tau": digits(columns["tau"][i]),
                "a": [digits(real[i]), digits(imaginary[i])],
            }
            path.update({name: digits(columns[name][i]) for name in names[1:]})
            paths.append(path)
        return sorted(paths, key=lambda path: (bool(path["interactions"]), path["tau"]))

    def kind(self, interaction):
        """A name for one of Sionna RT's kinds of interaction."""
        kinds = self.rt.InteractionType
        names = {int(kinds.SPECULAR): "reflection", int(kinds.REFRACTION): "transmission"}
        return names[int(interaction)]
