//! Files a recipe refers to: patterns and materials that are not shipped.

use std::path::Path;

use magnetar_scene::AntennaPattern;
use sha2::{Digest, Sha256};

use super::{Recipe, RecipeError, RecipeProblem, hex};

/// The keys whose text may be a file, taken as relative to the recipe's own folder.
pub(super) const FILE_KEYS: [&str; 3] = ["antennas.tx_pattern", "antennas.rx_patterns", "surfaces.material_files"];

/// A larger file is not a pattern or a list of materials.
const MAX_BYTES: u64 = 64 << 20;

/// A name of a shipped pattern, or a path beside the recipe.
pub(super) fn beside(folder: &Path, name: &str) -> String {
    let path = Path::new(name);
    if AntennaPattern::shipped_names().any(|shipped| shipped == name) || path.is_absolute() {
        return name.to_owned();
    }
    folder.join(path).to_str().map_or_else(|| name.to_owned(), str::to_owned)
}

impl Recipe {
    /// The files in use, each once.
    fn file_names(&self) -> Vec<&str> {
        let antennas = &self.antennas;
        let patterns = [&antennas.tx_pattern, &antennas.rx_patterns[0], &antennas.rx_patterns[1]];
        let own = patterns.into_iter().filter(|name| !AntennaPattern::shipped_names().any(|shipped| shipped == *name));
        let mut names: Vec<&str> = own.chain(&self.surfaces.material_files).map(String::as_str).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Records the hash of every file in use.
    pub(super) fn hash_files(&mut self) -> Result<(), RecipeError> {
        let mut files = indexmap::IndexMap::new();
        for name in self.file_names() {
            files.insert(name.to_owned(), digest(name)?);
        }
        self.files = files;
        Ok(())
    }

    /// Whether every file in use is still the one the recipe was loaded with.
    ///
    /// # Errors
    /// Names the file that is missing or has changed.
    pub fn check_files(&self) -> Result<(), RecipeError> {
        for name in self.file_names() {
            if self.files.get(name) != Some(&digest(name)?) {
                return Err(RecipeError::new(name, "is not the file this recipe was made with; its SHA-256 differs"));
            }
        }
        Ok(())
    }
}

fn digest(name: &str) -> Result<String, RecipeError> {
    let bytes = magnetar_files::read_bytes(Path::new(name), MAX_BYTES).map_err(|source| {
        let shipped: Vec<_> = AntennaPattern::shipped_names().collect();
        let instead = format!("a file, or a shipped pattern: {}", shipped.join(", "));
        RecipeError::new(name, RecipeProblem::File { source, instead })
    })?;
    Ok(hex(&Sha256::digest(bytes)))
}
