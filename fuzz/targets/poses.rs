//! Tables of receiver poses, as `locate --poses` reads them: CSV and JSON Lines.
#![no_main]

use magnetar_dataset::{TablePose, poses_from_csv, poses_from_json_lines};

magnetar_fuzz::target!(|data| {
    if let Ok(text) = std::str::from_utf8(data) {
        for read in [poses_from_csv(text), poses_from_json_lines(text)] {
            match read {
                Ok(poses) => check(&poses),
                Err(error) => assert!(error.line > 0 && !error.to_string().is_empty()),
            }
        }
    }
});

/// Numbers of a room, which are written and read back.
fn check(poses: &[TablePose]) {
    assert!(poses.iter().all(|pose| pose.x.is_finite() && pose.y.is_finite() && pose.heading_deg.is_finite()));
    let rows: String =
        poses.iter().map(|p| format!("{:?},{:?},{:?},{:?}\n", p.x, p.y, p.z.unwrap_or(0.0), p.heading_deg)).collect();
    let again = poses_from_csv(&format!("x,y,z,heading_deg\n{rows}")).expect("written poses");
    assert!(again.iter().zip(poses).all(|(a, b)| (a.x, a.y, a.heading_deg) == (b.x, b.y, b.heading_deg)));
}
