//! A server with any tools, and a kernel in front of it with a store to look into.

use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::Value;
use switchboard_kernel::{GateOptions, Kernel, KernelOptions, ServerPolicy, ServerSpec, Sharing};
use switchboard_peer::{BoxFuture, Context, Handler, Reply};
use switchboard_protocol::mgp::{DefaultPolicy, TrustLevel};
use switchboard_store::{AuditFilter, Location, Options, Store};
use switchboard_wire::{ErrorObject, Notification, Raw, Request};

use crate::world::{Client, raw, serve, spec};

/// Answers every call with what was prepared, and remembers the parameters.
pub(crate) struct Tools {
    pub(crate) definitions: Vec<String>,
    /// What `initialize` says beside the usual.
    pub(crate) capabilities: String,
    pub(crate) answer: Mutex<String>,
    pub(crate) calls: Mutex<Vec<Raw>>,
    /// While set, calls are not answered.
    pub(crate) silent: bool,
}

impl Tools {
    pub(crate) fn new(definitions: &[&str]) -> Self {
        Self {
            definitions: definitions.iter().map(|&text| text.to_owned()).collect(),
            capabilities: r#"{"tools":{}}"#.to_owned(),
            answer: Mutex::new(r#"{"content":[{"type":"text","text":"done"}]}"#.to_owned()),
            calls: Mutex::default(),
            silent: false,
        }
    }
}

impl Handler for Tools {
    fn request(&self, context: Context, request: Request) -> BoxFuture<'_, Reply> {
        Box::pin(async move {
            match &*request.method {
                "initialize" => {
                    let capabilities = &self.capabilities;
                    Ok(raw(&format!(r#"{{"protocolVersion":"2025-11-25","capabilities":{capabilities},"serverInfo":{{"name":"tools","version":"1"}}}}"#))).into()
                }
                "tools/list" => Ok(raw(&format!(r#"{{"tools":[{}]}}"#, self.definitions.join(",")))).into(),
                "tools/call" => {
                    self.calls.lock().extend(request.params);
                    if self.silent {
                        context.cancel.cancelled().await;
                    }
                    Ok(raw(&self.answer.lock())).into()
                }
                "ping" => Ok(raw("{}")).into(),
                _ => Err(ErrorObject::new(-32601, "Method not found")).into(),
            }
        })
    }

    fn notification(&self, _context: Context, _notification: Notification) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

pub(crate) struct World {
    pub(crate) tools: Arc<Tools>,
    pub(crate) kernel: Kernel,
    pub(crate) store: Store,
    pub(crate) url: String,
    pub(crate) spec: ServerSpec,
    _folder: tempfile::TempDir,
}

pub(crate) fn gate() -> GateOptions {
    GateOptions { default_policy: Some(DefaultPolicy::OptOut), ..GateOptions::default() }
}

/// A policy under which nobody is asked before calls of harmless tools.
pub(crate) fn policy() -> ServerPolicy {
    ServerPolicy { trust: TrustLevel::Standard, ..ServerPolicy::default() }
}

pub(crate) async fn world(tools: Tools, policy: ServerPolicy, gate: GateOptions) -> World {
    let folder = tempfile::tempdir().expect("a folder");
    let store =
        Store::open(&Location::File(folder.path().join("store.db")), Options::default()).await.expect("a store");
    let tools = Arc::new(tools);
    let upstream = serve(tools.clone()).await;
    let gate = GateOptions { store: Some(store.clone()), ..gate };
    let kernel = Kernel::new(KernelOptions { gate, ..KernelOptions::default() });
    let spec = spec("box", &upstream, Sharing::Shared);
    let spec = ServerSpec { policy: Arc::new(policy), ..spec };
    kernel.apply(vec![spec.clone()]);
    let url = serve(Arc::new(kernel.clone())).await;
    World { tools, kernel, store, url, spec, _folder: folder }
}

impl World {
    /// What is on record, once everything is written. Ends the kernel.
    pub(crate) async fn record(&self) -> Vec<Value> {
        self.kernel.shut_down(std::time::Duration::from_secs(2)).await;
        let page = self.store.audit().query(&AuditFilter::default(), 1_000).await.expect("a readable log");
        page.iter().map(|record| serde_json::from_str(&record.event).expect("an event")).collect()
    }
}

/// A call of a tool: its result.
pub(crate) async fn call(client: &Client, name: &str, rest: &str) -> Raw {
    client.ask("tools/call", &format!(r#"{{"name":"{name}"{rest}}}"#)).await.expect("a result")
}

/// The text of a result.
pub(crate) fn text(result: &Raw) -> String {
    let blocks = result.member("content").and_then(|content| content.elements()).unwrap_or_default();
    blocks.iter().filter_map(|block| block.member("text")?.as_text()).collect()
}
