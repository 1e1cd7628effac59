//! Why a shipped recipe has the values it has: the comments in its file.

/// The comment above a key of a recipe's text, as one line; keys that follow without a comment of their own share it.
pub(super) fn reason(text: &str, path: &str) -> Option<String> {
    let (mut section, mut comment, mut fresh) = (String::new(), String::new(), true);
    for line in text.lines().map(str::trim) {
        if let Some(more) = line.strip_prefix('#') {
            // A comment after a key begins a new reason.
            if !std::mem::replace(&mut fresh, true) {
                comment.clear();
            }
            if !comment.is_empty() {
                comment.push(' ');
            }
            comment.push_str(more.trim());
        } else if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            section = format!("{name}.");
            comment.clear();
        } else if let Some((key, _)) = line.split_once('=') {
            if format!("{section}{}", key.trim()) == path {
                return (!comment.is_empty()).then_some(comment);
            }
            fresh = false;
        } else {
            comment.clear();
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_holds_until_the_next_comment_or_section() {
        let text =
            "# About the file.\n\nname = 1\n[a]\n# Because\n# of this.\nx = 1\ny = 2\n# Other.\nz = 3\n[b]\nx = 4\n";
        assert_eq!(reason(text, "name"), None);
        assert_eq!(reason(text, "a.x").as_deref(), Some("Because of this."));
        assert_eq!(reason(text, "a.y").as_deref(), Some("Because of this."));
        assert_eq!(reason(text, "a.z").as_deref(), Some("Other."));
        assert_eq!((reason(text, "b.x"), reason(text, "b.y")), (None, None));
    }
}
