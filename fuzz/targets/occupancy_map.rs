//! Occupancy maps: `map_server` YAML, a NUL byte, then the image, which the YAML names `map.image`.
#![no_main]

use std::sync::LazyLock;

use magnetar_fuzz::scratch::Scratch;
use magnetar_scene::occupancy_map::{OccupancyMap, fit_room, picture_of_fit};

static SCRATCH: LazyLock<Scratch> = LazyLock::new(|| Scratch::new("map"));

magnetar_fuzz::target!(|data| {
    let end = data.iter().position(|byte| *byte == 0).unwrap_or(data.len());
    let (yaml, image) = data.split_at(end);
    SCRATCH.write("map.image", image.get(1..).unwrap_or_default());
    match OccupancyMap::load(&SCRATCH.write("map.yaml", yaml)) {
        // The fit takes a thousand times as long as reading: some small maps are enough.
        Ok(map) if map.width * map.height <= 10_000 && data.len().is_multiple_of(16) => match fit_room(&map) {
            Ok(fit) => drop(picture_of_fit(&map, &fit)),
            Err(error) => drop(error.to_string()),
        },
        Ok(_) => {}
        Err(error) => drop(error.to_string()),
    }
});
