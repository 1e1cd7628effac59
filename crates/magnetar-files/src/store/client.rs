//! The clients of stores, one for each bucket, and the one runtime they share.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey, S3CopyIfNotExists};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::memory::InMemory;
use object_store::{BackoffConfig, ClientConfigKey, Error, ObjectStore, RetryConfig};
use tokio::runtime::{Builder, Runtime};

use super::error::told;
use crate::place::{MEMORY, place};

/// How often a request that failed in passing is sent again.
pub(super) const RETRIES: usize = 12;

/// After this long a request is not sent again.
const PATIENCE: Duration = Duration::from_secs(60);

/// The longest that one request may take, as a text that the client reads: some ten megabytes over a slow line.
const REQUEST_TIME: &str = "120 seconds";

/// Threads that move bytes; computing is done elsewhere.
const THREADS: usize = 2;

/// An object: its store and its name there.
#[derive(Debug, Clone)]
pub(super) struct Object {
    pub(super) store: Arc<dyn ObjectStore>,
    pub(super) name: object_store::path::Path,
}

struct Clients {
    /// Whose they are: a forked process has none of its parent's threads and begins anew.
    process: u32,
    runtime: Runtime,
    stores: Mutex<HashMap<String, Arc<dyn ObjectStore>>>,
}

static CLIENTS: Mutex<Option<Arc<Clients>>> = Mutex::new(None);

fn clients() -> io::Result<Arc<Clients>> {
    let mut held = CLIENTS.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if let Some(found) = held.as_ref().filter(|clients| clients.process == process) {
        return Ok(Arc::clone(found));
    }
    // Closing the parent's runtime would wait for threads that are not here.
    std::mem::forget(held.take());
    // An error says that somebody chose another one before, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime =
        Builder::new_multi_thread().worker_threads(THREADS).thread_name("magnetar-store").enable_all().build()?;
    let made = Arc::new(Clients { process, runtime, stores: Mutex::new(HashMap::new()) });
    *held = Some(Arc::clone(&made));
    Ok(made)
}

/// The object of an address.
pub(super) fn object(path: &Path) -> io::Result<Object> {
    let path = place(path)?;
    let text = path.to_str().unwrap_or_default();
    let (scheme, rest) = text.split_once("://").unwrap_or_default();
    let (bucket, name) = rest.split_once('/').unwrap_or((rest, ""));
    let name = object_store::path::Path::parse(name)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "not a name that stores allow"))?;
    let clients = clients()?;
    let mut stores = clients.stores.lock().unwrap_or_else(PoisonError::into_inner);
    let root = format!("{scheme}://{bucket}");
    let store = match stores.get(&root) {
        Some(found) => Arc::clone(found),
        None => {
            let made = connect(scheme, &root).map_err(told)?;
            stores.insert(root, Arc::clone(&made));
            made
        }
    };
    Ok(Object { store, name })
}

/// A client whose credentials are those of the environment.
fn connect(scheme: &str, root: &str) -> Result<Arc<dyn ObjectStore>, Error> {
    let backoff = BackoffConfig {
        init_backoff: Duration::from_millis(100),
        max_backoff: Duration::from_secs(4),
        ..BackoffConfig::default()
    };
    let retry = RetryConfig { backoff, max_retries: RETRIES, retry_timeout: PATIENCE };
    let time = ClientConfigKey::Timeout;
    Ok(match scheme {
        MEMORY => Arc::new(InMemory::new()),
        "s3" => {
            let mut builder = AmazonS3Builder::from_env()
                .with_url(root)
                .with_retry(retry)
                .with_config(AmazonS3ConfigKey::Client(time), REQUEST_TIME)
                .with_copy_if_not_exists(S3CopyIfNotExists::Multipart);
            if is_plain(builder.get_config_value(&AmazonS3ConfigKey::Endpoint)) {
                builder = builder.with_allow_http(true);
            }
            Arc::new(builder.build()?)
        }
        "gs" => {
            let mut builder = GoogleCloudStorageBuilder::from_env()
                .with_url(root)
                .with_retry(retry)
                .with_config(GoogleConfigKey::Client(time), REQUEST_TIME);
            if is_plain(builder.get_config_value(&GoogleConfigKey::BaseUrl)) {
                builder = builder.with_config(GoogleConfigKey::Client(ClientConfigKey::AllowHttp), "true");
            }
            Arc::new(builder.build()?)
        }
        _ => {
            let mut builder = MicrosoftAzureBuilder::from_env()
                .with_url(root)
                .with_retry(retry)
                .with_config(AzureConfigKey::Client(time), REQUEST_TIME);
            if is_plain(builder.get_config_value(&AzureConfigKey::Endpoint)) {
                builder = builder.with_allow_http(true);
            }
            Arc::new(builder.build()?)
        }
    })
}

/// Whether a store was named that is spoken to without encryption. Whoever names one wants it: a store on this machine, or in
/// a network of one's own.
fn is_plain(endpoint: Option<String>) -> bool {
    endpoint.is_some_and(|url| url.starts_with("http://"))
}

/// Waits for a request, which is sent again if it fails in passing. The client itself does so where it knows that nothing can
/// happen twice; all requests of ours are of that kind: they read, put one content, or put under a condition.
pub(super) fn attempt<T, F>(mut once: impl FnMut() -> F) -> Result<T, Error>
where
    F: Future<Output = Result<T, Error>>,
{
    let clients = clients().map_err(|source| Error::Generic { store: "", source: source.into() })?;
    let started = Instant::now();
    clients.runtime.block_on(async {
        let mut pause = Duration::from_millis(50);
        for _ in 0..RETRIES {
            match once().await {
                Err(error) if is_passing(&error) && started.elapsed() < PATIENCE => {
                    tokio::time::sleep(pause).await;
                    pause *= 2;
                }
                result => return result,
            }
        }
        once().await
    })
}

/// Whether a request may succeed if it is sent again: connections were lost or the store failed, and the client has not tried
/// long enough already. A request that the store finds wrong (4xx) stays so.
fn is_passing(error: &Error) -> bool {
    let text = error.to_string();
    let given_up = text.contains(&format!("after {RETRIES} retries")) || text.contains("status code: 4");
    matches!(error, Error::Generic { .. }) && !given_up
}
