//! The page itself: markup, style and script are part of the binary.

use serde_json::Value;

use crate::palette;
use crate::svg::escape;

const STYLE: &str = include_str!("../../assets/page.css");
const BODY: &str = include_str!("../../assets/view.html");
const SCRIPTS: [&str; 5] = [
    include_str!("../../assets/core.js"),
    include_str!("../../assets/plan.js"),
    include_str!("../../assets/room3d.js"),
    include_str!("../../assets/panels.js"),
    include_str!("../../assets/main.js"),
];

/// Who will read the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode<'a> {
    /// A browser that talks to our server; its script carries this nonce.
    Live(&'a str),
    /// A browser that opens a file.
    Export,
}

/// The whole page. `start` is what the script begins with.
pub(super) fn page(title: &str, mode: Mode<'_>, start: &Value) -> String {
    let nonce = match mode {
        Mode::Live(nonce) => format!(" nonce=\"{nonce}\""),
        Mode::Export => String::new(),
    };
    let body = BODY.replace("@TITLE@", &escape(title)).replace("@VERSION@", env!("CARGO_PKG_VERSION"));
    // A "<" inside the data could end the script element.
    let start = start.to_string().replace('<', "\\u003c");
    let script: String = SCRIPTS.concat();
    frame(
        title,
        &format!(
            "{body}<script type=\"application/json\" id=\"start\">{start}</script>\n<script{nonce}>\n(() => {{\n{script}}})();\n</script>\n"
        ),
    )
}

/// A document around a body, with our style and palette.
pub(crate) fn frame(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>\n{}{STYLE}</style>\n</head>\n<body>\n{body}</body>\n</html>\n",
        escape(title),
        palette::css()
    )
}
