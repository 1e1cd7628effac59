//! The materials a scene can name: the shipped ones and the user's.

use std::collections::BTreeMap;
use std::path::Path;

use crate::error::{Place, SceneError};
use crate::material::Material;
use crate::{material_file, shipped, text};

/// Materials by name.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MaterialLibrary {
    materials: BTreeMap<String, Material>,
}

impl MaterialLibrary {
    /// A library without any material.
    #[must_use]
    pub fn empty() -> Self {
        Self::default()
    }

    /// The shipped materials: the table of ITU-R P.2040.
    #[must_use]
    pub fn shipped() -> Self {
        let mut library = Self::empty();
        for (name, content) in shipped::MATERIALS {
            library.add_toml_str(content, name).expect("the shipped files are fixed and a test parses them");
        }
        library
    }

    /// Adds the materials of a TOML text; `origin` names it in errors.
    ///
    /// # Errors
    /// If the text is malformed, or defines a name again with other values.
    pub fn add_toml_str(&mut self, toml: &str, origin: &str) -> Result<(), SceneError> {
        for material in material_file::parse(toml, origin)? {
            if self.materials.get(&material.name).is_some_and(|known| *known != material) {
                let place = Place::new(origin).at_key(format!("material.{}", material.name));
                return Err(SceneError::malformed(place, "a material of this name is already defined", "another name"));
            }
            self.insert(material);
        }
        Ok(())
    }

    /// Adds the materials of a file, or of all `.toml` files of a directory (not of those below it).
    ///
    /// # Errors
    /// If a file cannot be read, is malformed, or defines a name again with other values.
    pub fn add_path(&mut self, path: &Path) -> Result<(), SceneError> {
        if !path.is_dir() {
            let content = text::read(path, "material", material_file::MAX_MATERIAL_FILE_BYTES)?;
            return self.add_toml_str(&content, &path.display().to_string());
        }
        let unreadable = |source| SceneError::Read { path: path.display().to_string(), source };
        let mut files = Vec::new();
        for entry in std::fs::read_dir(path).map_err(unreadable)? {
            let file = entry.map_err(unreadable)?.path();
            if file.extension().is_some_and(|extension| extension == "toml") && !file.is_dir() {
                files.push(file);
            }
        }
        // Directory order differs between systems: sort, so that errors do not.
        files.sort();
        files.iter().try_for_each(|file| self.add_path(file))
    }

    /// Adds a material, replacing one of the same name.
    pub fn insert(&mut self, material: Material) {
        self.materials.insert(material.name.clone(), material);
    }

    /// The material of a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Material> {
        self.materials.get(name)
    }

    /// All materials, by name.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Material> {
        self.materials.values()
    }

    /// Whether it has no material.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.materials.is_empty()
    }

    /// How many materials it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.materials.len()
    }
}
