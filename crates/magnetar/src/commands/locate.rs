//! `magnetar locate`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, bail, ensure};
use magnetar_dataset::Recipe;
use magnetar_files::npy::write_npy;
use magnetar_posterior::{Layout, Location, Scorer, Snapshot, SupportSize};
use magnetar_report::Theme;
use magnetar_report::figure::{PosteriorPicture, marginal_figure};
use magnetar_scene::{BoxShape, MaterialLibrary, Pose, Scene};
use magnetar_signal::{Arrival, Radio};
use magnetar_study::{SceneDevices, ScorerSettings, open_scorer, scene_twin};
use serde_json::{Value, json};

use super::material::MaterialsArgs;
use super::measurement::{DOUBTS, Poses, SnapshotArgs, Snapshots, SubcarrierArgs, noise_advice, turn_advice};
use super::plot::{SCALE, check_name, scorer_line, write_figure};
use super::scorer_args::{ScorerArgs, SupportArgs, TWIN, knowledge_line, scorer_json};
use crate::advice::at_its_line;
use crate::args::{keep_inputs, parse_npy_name};
use crate::progress;

/// Flags of `magnetar locate`.
#[derive(clap::Args)]
#[command(after_help = "\
One or several snapshots of one transmitter that stands still: .npy or .parquet
files as `estimate` reads them. The radio (band, array, antennas, level) is that
of --recipe. With the twin and no --recipe, the radio is that of recipe `paper`
and the walls have the scene's own materials; with one, they have one of the
recipe's material assignments, as in `evaluate`.
Several snapshots are fused: early (product of the position marginals) and late
(one heading must explain all of them); kappa, from 0 to 1, says how well one
heading does.

Examples:
  magnetar locate lab measured.npy --rx 1,-1,,90 --noise-variance auto
  magnetar locate my_room.toml a.npy b.npy --rx 1,-1,,90 --rx 2,0,,180 --plot where.svg
  magnetar locate my_room.toml drive.npy --poses drive.csv --json --out posterior.npy
  magnetar locate my_room.toml intel5300.npy --rx 1,-1,,90 --recipe wifi.toml \\
      --noise-variance auto --subcarriers -28..-2:2,-1..27:2,28 --subcarrier-khz 312.5")]
pub struct Args {
    /// A shipped scene's name or a scene file.
    scene: String,
    /// Files of snapshots.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    poses: Poses,
    #[command(flatten)]
    radio: SnapshotArgs,
    #[command(flatten)]
    materials: MaterialsArgs,
    #[command(flatten)]
    scorer: ScorerArgs,
    #[command(flatten)]
    support: SupportArgs,
    /// Write the joint posterior here: .npy, float32 [D, H, W].
    #[arg(short, long, value_name = "FILE.npy", value_parser = parse_npy_name)]
    out: Option<PathBuf>,
    /// Draw the position marginal here: .svg or .png.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    /// With --json: the position marginal, rows along y, too.
    #[arg(long, requires = "json")]
    marginal: bool,
}

/// Prints where the transmitter of the snapshots stands.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if let Some(path) = &args.plot {
        check_name(path)?;
    }
    for out in args.out.iter().chain(&args.plot) {
        keep_inputs(out, args.files.iter().map(|file| &**file))?;
    }
    let scene = Scene::load(&args.scene)?;
    let named = args.radio.recipe()?;
    let of_recipe = named.is_some();
    let mut recipe = named.unwrap_or_else(Recipe::paper);
    recipe.array.spacing_m = args.radio.receiver.pair_spacing_m().unwrap_or(recipe.array.spacing_m);
    let radio = recipe.radio()?;
    let measured = Snapshots::read(&args.files, &args.radio, &radio, recipe.sre.clone())?;
    let poses = args.poses.of(&scene, measured.blocks.len())?;
    let poses: Vec<Pose> = poses.iter().map(|pose| recipe.mounting.rx(pose)).collect();
    check_poses(&scene, &poses)?;
    let snapshots = snapshots(&args.radio.subcarriers, &measured, &poses)?;
    if snapshots.iter().all(|snapshot| snapshot.arrivals.found.is_empty())
        && let Some(advice) = measured.blocks.first().and_then(|block| noise_advice(&measured.receiver, block))
    {
        bail!("no arrival in any snapshot: {advice}");
    }
    if let Some(empty) = measured.blocks.iter().position(|block| block.iter().all(|z| z.norm_sqr() == 0.0)) {
        bail!("snapshot {empty} holds nothing but zeros; leave it out");
    }
    let turns: Vec<_> = measured.blocks.iter().take(DOUBTS).map(|block| measured.receiver.turned_bins(block)).collect();
    if let Some(advice) = turn_advice(&turns) {
        eprintln!("warning: {advice}");
    }
    let (name, settings) = args.scorer.scene_scorer()?;
    let scorer = if name != TWIN || of_recipe {
        open_scorer(name, &recipe, &settings)?
    } else {
        let twin = twin_of(&scene, &recipe, &radio, args.materials.library()?, &settings);
        twin.map_err(|error| at_its_line(&args.scene, error))?
    };
    let boxes: Vec<BoxShape> = scene.boxes.iter().map(|b| b.shape).collect();
    let layout = Layout { room: scene.room, boxes };
    let scoring = progress::phase("scoring the snapshots");
    let location = Location::new(&layout, &snapshots, &*scorer, args.support.size())?;
    drop(scoring);
    if let Some(path) = &args.out {
        let size = location.support.size();
        write_npy(path, &[size.headings, size.rows, size.columns], location.joint.mass())?;
    }
    if let Some(path) = &args.plot {
        draw(path, &layout, &location, &poses, &*scorer)?;
    }
    let described = describe(args, &snapshots, &location, &*scorer);
    if args.json {
        println!("{}", serde_json::to_string_pretty(&described)?);
        return Ok(ExitCode::SUCCESS);
    }
    print(&snapshots, &location, &*scorer);
    if let Some(path) = &args.out {
        let SupportSize { headings, rows, columns } = location.support.size();
        println!("joint posterior, float32 [{headings}, {rows}, {columns}]: {}", path.display());
    }
    if let Some(path) = &args.plot {
        println!("position marginal: {}", path.display());
    }
    Ok(ExitCode::SUCCESS)
}

/// The arrivals of each snapshot.
fn snapshots(subcarriers: &SubcarrierArgs, measured: &Snapshots, poses: &[Pose]) -> anyhow::Result<Vec<Snapshot>> {
    let bar = progress::bar(poses.len() as u64, "snapshots");
    let mut workspace = measured.receiver.workspace();
    let mut snapshots = Vec::with_capacity(poses.len());
    for (n, (block, rx)) in measured.blocks.iter().zip(poses).enumerate() {
        let arrivals = measured.receiver.arrivals(block, &mut workspace);
        let arrivals = arrivals.map_err(|error| subcarriers.in_the_file(error));
        let arrivals = arrivals.with_context(|| format!("snapshot {n}"))?;
        snapshots.push(Snapshot { rx: *rx, arrivals, observation: measured.observation(n) });
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(snapshots)
}

fn check_poses(scene: &Scene, poses: &[Pose]) -> anyhow::Result<()> {
    for (n, pose) in poses.iter().enumerate() {
        let p = &pose.position;
        ensure!(
            scene.room.contains(p) && !scene.boxes.iter().any(|b| b.shape.contains(p)),
            "snapshot {n}: the receiver at ({}, {}, {}) m stands outside the room or in a box; bounds are {:?}",
            p.x,
            p.y,
            p.z,
            scene.room.bounds()
        );
    }
    Ok(())
}

/// The twin of a scene, as seen by a recipe's radio.
fn twin_of(
    scene: &Scene,
    recipe: &Recipe,
    radio: &Radio,
    materials: MaterialLibrary,
    settings: &ScorerSettings,
) -> anyhow::Result<Arc<dyn Scorer>> {
    let world = scene.resolve(&materials, radio.band().carrier_hz)?;
    let devices = SceneDevices {
        radio,
        tx_height_m: scene.device_height,
        wall_margin_m: recipe.devices.wall_margin_m,
        separation_min_m: recipe.devices.separation_min_m,
    };
    Ok(Arc::new(scene_twin(&world, &devices, settings)?))
}

fn draw(path: &Path, layout: &Layout, location: &Location, rx: &[Pose], scorer: &dyn Scorer) -> anyhow::Result<()> {
    let caption = format!("Measured: {}; {}.", count(rx.len()), scorer_line(scorer));
    let picture = PosteriorPicture {
        support: &location.support,
        volume: &location.joint,
        room: &layout.room,
        boxes: &layout.boxes,
        rx,
        truth: None,
        caption: &caption,
    };
    write_figure(path, &marginal_figure(&picture, Theme::Light), SCALE)
}

fn count(snapshots: usize) -> String {
    if snapshots == 1 { "1 snapshot".to_owned() } else { format!("{snapshots} snapshots, fused") }
}

fn describe(args: &Args, snapshots: &[Snapshot], location: &Location, scorer: &dyn Scorer) -> Value {
    let arrival = |a: &Arrival| {
        json!({
            "aoa_deg": a.aoa_rad.to_degrees(), "phase_deg": a.phase_rad.to_degrees(), "delay_s": a.delay_s,
            "raw_snr_db": a.raw_snr_db, "snr_db": a.snr_db,
        })
    };
    let of_snapshot = |s: &Snapshot| s.arrivals.found.iter().map(arrival).collect::<Vec<_>>();
    let arrivals: Vec<_> = snapshots.iter().map(of_snapshot).collect();
    let mode = location.mode();
    let cells = location.hpd_cells(&[50, 90]);
    let columns = location.support.size().columns;
    let plane = |marginal: &[f64]| marginal.chunks(columns).map(<[f64]>::to_vec).collect::<Vec<_>>();
    let mut out = json!({
        "arrivals": if let [one] = &arrivals[..] { json!(one) } else { json!(arrivals) },
        "mode": { "x": mode.x, "y": mode.y, "heading_deg": mode.heading_deg, "mass": mode.mass },
        "p50_cells": cells[0],
        "p90_cells": cells[1],
        "cells": location.support.size().len(),
        "heading_marginal": location.joint.heading_marginal(),
        "scorer": scorer_json(scorer),
        "out": args.out,
        "plot": args.plot,
    });
    if let (Some(fused), Some(kappa)) = (&location.fused, location.kappa()) {
        out["kappa"] = json!(kappa);
        let (i, j) = top(&fused.early, columns);
        out["early_mode"] = json!({ "x": location.support.xs()[j], "y": location.support.ys()[i] });
        let (i, j) = top(&fused.late, columns);
        out["late_mode"] = json!({ "x": location.support.xs()[j], "y": location.support.ys()[i] });
        if args.marginal {
            out["early_xy_marginal"] = json!(plane(&fused.early));
        }
    }
    if args.marginal {
        out["xs_m"] = json!(location.support.xs());
        out["ys_m"] = json!(location.support.ys());
        out["xy_marginal"] = json!(plane(&location.joint.position_marginal()));
    }
    out
}

/// Row and column of the largest cell.
fn top(plane: &[f64], columns: usize) -> (usize, usize) {
    let best = plane.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |(n, _)| n);
    (best / columns, best % columns)
}

fn print(snapshots: &[Snapshot], location: &Location, scorer: &dyn Scorer) {
    println!("{}", knowledge_line(scorer));
    println!("{:>8} {:>4} {:>9} {:>11} {:>8}", "snapshot", "rank", "AoA/deg", "delay/ns", "SNR/dB");
    for (n, snapshot) in snapshots.iter().enumerate() {
        for (rank, a) in snapshot.arrivals.found.iter().enumerate() {
            let (aoa, delay) = (a.aoa_rad.to_degrees(), 1e9 * a.delay_s);
            println!("{n:>8} {rank:>4} {aoa:>9.2} {delay:>11.3} {:>8.2}", a.snr_db);
        }
        if snapshot.arrivals.found.is_empty() {
            println!("{n:>8}    no arrival above the noise");
        }
    }
    let mode = location.mode();
    println!("mode ({:.2}, {:.2}) m, heading {:.0} deg, mass {:.4}", mode.x, mode.y, mode.heading_deg, mode.mass);
    let cells = location.hpd_cells(&[50, 90]);
    let all = location.support.size().len();
    println!("50 % of the mass in {:.0} of {all} cells, 90 % in {:.0}", cells[0], cells[1]);
    if let Some(kappa) = location.kappa() {
        println!("{}: one heading explains all of them with kappa {kappa:.3}", count(snapshots.len()));
    }
    println!("heading marginal, %:");
    for (d, mass) in location.joint.heading_marginal().iter().enumerate() {
        let heading = location.support.heading(d).to_degrees();
        println!("  {heading:>5.0} deg {:>6.2} {}", 100.0 * mass, "#".repeat((60.0 * mass) as usize));
    }
}
