//! A door in front of one HTTP server: `door LISTEN URL`.
#![expect(clippy::print_stdout, reason = "the address is what this program has to say")]

use std::sync::Arc;
use std::time::Duration;

use switchboard_kernel::{GateOptions, Kernel, KernelOptions, Restart, ServerSpec, Sharing};
use switchboard_peer::client::{EraChoice, Target};
use switchboard_peer::server::http::{HttpEndpoint, HttpOptions};
use switchboard_protocol::mgp::DefaultPolicy;
use switchboard_transport::http_server::Listener;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(listen), Some(url)) = (arguments.next(), arguments.next()) else { return Err("door LISTEN URL".into()) };
    // Whoever reaches this door may pass: it has no tokens.
    let gate = GateOptions { default_policy: Some(DefaultPolicy::OptOut), ..GateOptions::default() };
    let kernel = Kernel::new(KernelOptions { gate, ..KernelOptions::default() });
    kernel.apply(vec![ServerSpec {
        id: "server".into(),
        target: Target::Http { url: url.clone(), headers: Vec::new() },
        era: EraChoice::Auto,
        sharing: Sharing::PerSession,
        start_timeout: Duration::from_secs(10),
        call_timeout: Duration::from_secs(60),
        restart: Restart::Always,
        upkeep: switchboard_kernel::Upkeep::default(),
        fingerprint: url,
        isolation: None,
        policy: Arc::default(),
    }]);
    let listener = Listener::bind(listen.parse()?).await?;
    println!("listening on http://{listen}/mcp");
    Arc::new(HttpEndpoint::new(HttpOptions::default(), Arc::new(kernel))).serve(listener).await;
    Ok(())
}
