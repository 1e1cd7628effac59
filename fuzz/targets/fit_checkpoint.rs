//! The state of a fit that was stopped: what is taken from a file is kept and taken again.
#![no_main]

use std::sync::LazyLock;

use magnetar_fuzz::scratch::Scratch;
use magnetar_study::{FitOrigin, FitState};

static SCRATCH: LazyLock<Scratch> = LazyLock::new(|| Scratch::new("fit"));

magnetar_fuzz::target!(|data| {
    // `seeds.py` writes the same.
    let origin = FitOrigin::default();
    let path = SCRATCH.write("fit.checkpoint", data);
    match FitState::kept(&path, &origin) {
        Ok(Some(state)) => {
            state.keep(&path, &origin).expect("a scratch file");
            let again = FitState::kept(&path, &origin);
            assert!(again.is_ok_and(|again| again == Some(state)), "kept and taken again");
        }
        Ok(None) => panic!("the file is there"),
        Err(error) => drop(error.to_string()),
    }
});
