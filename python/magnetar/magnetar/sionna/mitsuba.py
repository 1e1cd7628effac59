"""A scene as a Mitsuba XML file with its meshes, for ``sionna.rt.load_scene``."""

import argparse
import pathlib
from xml.sax.saxutils import quoteattr

from magnetar.sionna.scene import InputError, Scene


def mesh_text(corners):
    """A face as PLY: four corners, two triangles."""
    head = ["ply", "format ascii 1.0", "element vertex 4", *(f"property float {axis}" for axis in "xyz")]
    head += ["element face 2", "property list uchar int vertex_indices", "end_header"]
    lines = [" ".join(repr(float(value)) for value in corner) for corner in corners]
    return "\n".join([*head, *lines, "3 0 1 2", "3 0 2 3", ""])


def save_mitsuba(scene, folder, transmission=False):
    """Writes ``scene.xml`` and ``meshes/`` into a folder; a mesh for every face, named as paths name it.

    With ``transmission`` a box is one sheet at its mid-plane, as Sionna RT applies the whole slab at each surface. Gives the
    path of the XML file.
    """
    folder = pathlib.Path(folder)
    (folder / "meshes").mkdir(parents=True, exist_ok=True)
    faces = list(scene.sheets() if transmission else scene.faces())
    layers = list(dict.fromkeys(layer for _, _, layer in faces))
    lines = ['<scene version="2.1.0">']
    for number, layer in enumerate(layers):
        values = {"relative_permittivity": layer.eps_r, "conductivity": layer.sigma, "thickness": layer.thickness}
        lines += [f'  <bsdf type="radio-material" id="material-{number}">']
        lines += [f'    <float name="{name}" value="{value!r}"/>' for name, value in values.items()]
        lines += ["  </bsdf>"]
    for number, (label, corners, layer) in enumerate(faces):
        file = f"meshes/face-{number}.ply"
        (folder / file).write_text(mesh_text(corners), encoding="utf-8")
        lines += [
            f'  <shape type="ply" id={quoteattr(label)}>',
            f'    <string name="filename" value="{file}"/>',
            '    <boolean name="face_normals" value="true"/>',
            f'    <ref id="material-{layers.index(layer)}" name="bsdf"/>',
            "  </shape>",
        ]
    path = folder / "scene.xml"
    path.write_text("\n".join([*lines, "</scene>", ""]), encoding="utf-8")
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scene", metavar="SCENE", help="a shipped scene's name or a scene file")
    parser.add_argument("--frequency-ghz", type=float, default=10.0)
    parser.add_argument("--materials", action="append", default=[], metavar="FILE", help="more material files")
    parser.add_argument("--transmission", action="store_true", help="boxes are sheets at their mid-planes")
    parser.add_argument("--out", required=True, type=pathlib.Path, metavar="FOLDER")
    arguments = parser.parse_args()
    try:
        scene = Scene.read(arguments.scene, arguments.materials, arguments.frequency_ghz * 1e9)
        print(save_mitsuba(scene, arguments.out, arguments.transmission))
    except (InputError, OSError) as error:
        parser.exit(1, f"error: {error}\n")


if __name__ == "__main__":
    main()
