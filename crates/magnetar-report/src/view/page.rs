//! The page itself: markup, style and script are part of the binary.

use serde_json::Value;

use crate::palette;
use crate::svg::escape;

const STYLE: &str = include_str!("../../assets/page.css");
const BODY: &str = include_str!("../../assets/view.html");
const SCRIPTS: [&str; 12] = [
    include_str!("../../assets/core.js"),
    include_str!("../../assets/address.js"),
    include_str!("../../assets/floor.js"),
    include_str!("../../assets/plan.js"),
    include_str!("../../assets/pen.js"),
    include_str!("../../assets/room3d.js"),
    include_str!("../../assets/volume3d.js"),
    include_str!("../../assets/panels.js"),
    include_str!("../../assets/hover.js"),
    include_str!("../../assets/save.js"),
    include_str!("../../assets/play.js"),
    include_str!("../../assets/main.js"),
];

/// What only a page that is served shows stands between these.
const LIVE: [&str; 2] = ["<!--live-->", "<!--/live-->"];

/// Unfolds the part of a page that its address names, now and when a link of its contents is followed.
pub(crate) const UNFOLD: &str = "<script>\n\"use strict\";\nfunction unfold() {\n  const part = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));\n  for (let at = part; at; at = at.parentElement) if (at.tagName === \"DETAILS\") at.open = true;\n  if (part) part.scrollIntoView();\n}\naddEventListener(\"hashchange\", unfold);\ndocument.querySelectorAll(\"nav a\").forEach((a) => a.addEventListener(\"click\", () => setTimeout(unfold)));\nunfold();\n</script>\n";

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
    let body = match mode {
        Mode::Live(_) => BODY.to_owned(),
        Mode::Export => without_live(BODY),
    };
    let body = body.replace("@TITLE@", &escape(title)).replace("@VERSION@", env!("CARGO_PKG_VERSION"));
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

/// The markup without what needs a server.
fn without_live(markup: &str) -> String {
    let [open, close] = LIVE;
    let mut parts = markup.split(open);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |kept, part| kept + part.split_once(close).map_or("", |(_, after)| after))
}

/// A document around a body, with our style and palette.
pub(crate) fn frame(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>\n{}{STYLE}</style>\n</head>\n<body>\n{body}</body>\n</html>\n",
        escape(title),
        palette::css()
    )
}
