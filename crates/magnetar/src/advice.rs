//! Error messages as people read them: what the libraries report, once each, and what to do about it.

use std::path::Path;

/// How alike a name must be to one that exists, from 0 to 1, to be taken for a slip.
const ALIKE: f64 = 0.8;

/// Phrases before a list of what exists; the name that does not stands before them.
const LISTS: [&str; 9] = [
    "expected one of ",
    "expected ",
    "known are ",
    "there are ",
    "there is ",
    "it has ",
    "shipped recipe: ",
    "shipped sweep: ",
    "shipped pattern: ",
];

/// What is said where a message ends, and what can be done about it.
const REMEDIES: [(&str, &str); 7] = [
    ("No such file or directory (os error 2)", "check the path: it begins at the current folder"),
    ("Is a directory (os error 21)", "give a file, not a folder"),
    ("Not a directory (os error 20)", "a part of the path is a file; give another"),
    ("Permission denied (os error 13)", "check who may read and write there"),
    ("Corrupt footer", "it is another kind of file, or cut off: check the path, or make it again"),
    ("with a header of 1048576 bytes at most", "`magnetar train` makes one"),
    ("expected the manifest of a magnetar dataset", "put it back, or make the dataset again in another folder"),
];

/// What readers of files call kinds of values, and what people do.
const KINDS: [(&str, &str); 7] = [
    (", expected u64", ", expected a whole number, 0 or more"),
    (", expected u32", ", expected a whole number, 0 or more"),
    (", expected usize", ", expected a whole number, 0 or more"),
    (", expected i64", ", expected a whole number"),
    (", expected f64", ", expected a number"),
    (", expected a sequence", ", expected a list"),
    (" as i128", ""),
];

/// An error and its causes, without those that the text before them names already, and with what may help.
#[must_use]
pub fn message_of(error: &anyhow::Error) -> String {
    let text = error.chain().map(ToString::to_string).fold(String::new(), |text, cause| match text.as_str() {
        "" => cause,
        said if said.contains(&cause) => text,
        said => format!("{said}: {cause}"),
    });
    advised(text)
}

/// A message with the name that was probably meant, or with what to do where the system's words are all there is.
fn advised(text: String) -> String {
    let text = KINDS.iter().fold(text, |text, (kind, words)| text.replace(kind, words));
    if text.contains("did you mean") {
        return text;
    }
    if let Some(name) = meant(&text) {
        return format!("{}; did you mean {name}?", text.trim_end());
    }
    match REMEDIES.iter().find(|(reason, _)| text.ends_with(reason)) {
        Some((_, remedy)) => format!("{text}; {remedy}"),
        None => text,
    }
}

/// The name that exists and is most like the one that does not.
fn meant(text: &str) -> Option<String> {
    let (before, names) = LISTS.iter().find_map(|phrase| text.split_once(phrase))?;
    // The last name in quotes, or the file that is not there.
    let quoted = |quote: char| before.rsplit(quote).nth(1).filter(|_| before.matches(quote).count() >= 2);
    let wrong = missing_file(before).or_else(|| quoted('`')).or_else(|| quoted('"'))?;
    let names = names.split(';').next()?.split(", ").flat_map(|part| part.split(" or "));
    nearest(wrong, names.map(|name| name.trim().trim_matches(['`', '"'])))
}

/// The file that the system did not find.
fn missing_file(text: &str) -> Option<&str> {
    text.split_once(": No such file").map(|(name, _)| name.rsplit(' ').next().unwrap_or(name))
}

/// The most similar of several names, if any is similar.
fn nearest<'a>(wrong: &str, names: impl Iterator<Item = &'a str>) -> Option<String> {
    names
        .map(|name| (strsim::jaro_winkler(wrong, name), name))
        .filter(|(alike, name)| *alike >= ALIKE && *name != wrong)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name.to_owned())
}

/// The groups of recipe keys that flags stand for.
const GROUPS: [&str; 4] = ["sre.", "band.", "array.", "link."];

/// An error about a recipe's key where a flag was given: with the flag's name.
pub fn with_flags(error: impl std::fmt::Display) -> anyhow::Error {
    let text = format!("{error:#}");
    let flag = |word: &str| {
        let key = GROUPS.iter().find_map(|group| word.strip_prefix(group))?;
        let (key, rest) = key.split_at(key.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(key.len()));
        let name = match key {
            "carrier_hz" => "carrier-ghz".to_owned(),
            "bandwidth_hz" => "bandwidth-mhz".to_owned(),
            "spacing_m" => "spacing-mm".to_owned(),
            "positions_m" => "positions-mm".to_owned(),
            "excluded_bins" => "exclude-bins".to_owned(),
            _ => key.replace('_', "-"),
        };
        Some(format!("--{name} ({}){rest}", word.strip_suffix(rest).unwrap_or(word)))
    };
    let words = text.split(' ').map(|word| flag(word).unwrap_or_else(|| word.to_owned()));
    anyhow::anyhow!(words.collect::<Vec<_>>().join(" "))
}

/// An error about a name that stands somewhere in a file: with that file and line, if it does not have them.
pub fn at_its_line(file: &str, error: impl Into<anyhow::Error>) -> anyhow::Error {
    let error = error.into();
    let text = message_of(&error);
    if text.contains(&format!("{file}:")) || !Path::new(file).is_file() {
        return error;
    }
    // Larger files were refused before.
    let Ok(content) = magnetar_files::read_text(Path::new(file), 16 << 20) else { return error };
    let line_of = |name: &str| {
        let quoted = format!("\"{name}\"");
        content.lines().position(|line| line.contains(&quoted))
    };
    // The last name in quotes is the one at fault; those before it say whose it is.
    let names = text.split(['`', '"']).skip(1).step_by(2).filter(|name| !name.is_empty()).chain(missing_file(&text));
    let found = names.collect::<Vec<_>>().into_iter().rev().find_map(line_of);
    match found {
        Some(n) => error.context(format!("{file}:{}", n + 1)),
        None => error.context(file.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_told_with_what_was_meant() {
        for (text, meant) in [
            (
                "unknown scene `lab_midle`; known are lab, lab_left, lab_middle; or give the path of a file",
                "lab_middle",
            ),
            ("r.toml:3: unknown field `thicknes_m`, expected one of `name`, `thickness_m`", "thickness_m"),
            ("m.toml:3: unknown field `rangs`, expected `ranges` or `source`", "ranges"),
            ("recipe \"paper\": no material \"glas\"; there is brick, glass, wood", "glass"),
            (
                "papr: No such file or directory (os error 2); give a recipe file, or a shipped recipe: paper, field",
                "paper",
            ),
            ("paper: no split \"tets\"; it has train, val, test, fusion", "test"),
        ] {
            assert!(
                advised(text.to_owned()).ends_with(&format!("; did you mean {meant}?")),
                "{}",
                advised(text.to_owned())
            );
        }
    }

    #[test]
    fn what_resembles_nothing_stays_as_it_is() {
        let text = "unknown scene `warehouse`; known are lab, lab_left; or give the path of a file";
        assert_eq!(advised(text.to_owned()), text);
        assert_eq!(advised("invalid type: map, expected a list".to_owned()), "invalid type: map, expected a list");
    }

    #[test]
    fn keys_have_the_names_of_their_flags() {
        let told = |text: &str| with_flags(text).to_string();
        assert_eq!(told("sre.p_fa = 2: expected less"), "--p-fa (sre.p_fa) = 2: expected less");
        assert_eq!(told("band.carrier_hz = 0: no"), "--carrier-ghz (band.carrier_hz) = 0: no");
        assert_eq!(told("array.spacing_m: bad"), "--spacing-mm (array.spacing_m): bad");
        assert_eq!(told("sre.excluded_bins = 9: no"), "--exclude-bins (sre.excluded_bins) = 9: no");
    }

    #[test]
    fn a_file_that_is_not_there_has_a_remedy() {
        assert!(advised("x.npy: No such file or directory (os error 2)".to_owned()).ends_with("at the current folder"));
    }
}
