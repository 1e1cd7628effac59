//! What stores answer, in words that hold no credentials: answers of stores repeat keys and signatures, so that nothing of them
//! is handed on but the status.

use std::io;

use object_store::Error;

/// The most of a foreign text that is shown.
const MAX_CAUSE: usize = 200;

/// The error of a request that was not granted.
pub(super) fn told(error: Error) -> io::Error {
    let (kind, text) = match &error {
        Error::NotFound { .. } => (io::ErrorKind::NotFound, "the store has no such object or bucket".to_owned()),
        Error::AlreadyExists { .. } | Error::Precondition { .. } | Error::NotModified { .. } => {
            (io::ErrorKind::AlreadyExists, "another process has changed it in the meantime".to_owned())
        }
        Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => {
            let refused = "the store refuses the credentials of the environment, or they do not allow this; docs/scale.md \
                           says where they are taken from";
            (io::ErrorKind::Other, refused.to_owned())
        }
        Error::NotSupported { .. } | Error::NotImplemented { .. } => {
            (io::ErrorKind::Unsupported, "the store does not offer what this needs".to_owned())
        }
        other => (io::ErrorKind::Other, failure(other)),
    };
    io::Error::new(kind, text)
}

/// The error of an object that is not there.
pub(super) fn not_found() -> io::Error {
    told(Error::NotFound { path: String::new(), source: "".into() })
}

/// What a store that failed said, and how often it was asked.
fn failure(error: &Error) -> String {
    let whole = error.to_string();
    let after = |mark: &str| whole.split_once(mark).map(|(_, rest)| rest);
    let retries = after(", after ").and_then(|rest| rest.split_once(" retries")).map(|(number, _)| number);
    let again = match retries.and_then(|number| number.parse::<u32>().ok()) {
        None | Some(0) => String::new(),
        Some(number) => format!(", asked {number} times more"),
    };
    match after("status code: ").map(|rest| rest.split([':', '<', '\n']).next().unwrap_or_default().trim()) {
        Some(status) if !status.is_empty() => format!("the store answered {status}{again}"),
        _ => format!("the store does not answer{again}: {}", innermost(error)),
    }
}

/// The first cause, without what may be part of a signed address or of an answer.
fn innermost(error: &Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    let text = cause.to_string();
    text.split(['<', '?']).next().unwrap_or_default().chars().take(MAX_CAUSE).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_told_without_their_text() {
        let generic = |text: &str| told(Error::Generic { store: "S3", source: text.to_owned().into() }).to_string();
        let slow = "Error performing PUT http://h/b/x?sig=secret in 9s, after 8 retries, max_retries: 8, retry_timeout: 60s  - \
                    Server returned non-2xx status code: 503 Service Unavailable: <Error><Key>secret</Key></Error>";
        assert_eq!(generic(slow), "the store answered 503 Service Unavailable, asked 8 times more");
        assert_eq!(generic("connection refused"), "the store does not answer: connection refused");
        assert_eq!(generic("no GET http://h/x?sig=secret"), "the store does not answer: no GET http://h/x");
        let source = || "<AWSAccessKeyId>secret</AWSAccessKeyId>".into();
        for error in [
            Error::PermissionDenied { path: "x".into(), source: source() },
            Error::NotFound { path: "x".into(), source: source() },
            Error::Precondition { path: "x".into(), source: source() },
        ] {
            assert!(!told(error).to_string().contains("secret"));
        }
    }
}
