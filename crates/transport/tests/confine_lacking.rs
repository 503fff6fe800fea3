//! Machines that lack a means of confinement: nothing is started with less than its profile says.
//!
//! A program of its own, because the launcher is one for the whole process.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "confine/attempts.rs"]
#[expect(dead_code, reason = "shared with the other tests")]
mod attempts;
#[path = "confine/scene.rs"]
#[expect(dead_code, reason = "shared with the other tests")]
mod scene;

use std::net::IpAddr;

use scene::Scene;
use switchboard_protocol::mgp::TrustLevel;
use switchboard_transport::child::{Child, CommandSpec, SpawnError};
use switchboard_transport::confine::{self, ConfinementGrant};

fn lack(means: &str) {
    let all: fn(IpAddr) -> bool = |_| true;
    confine::install(scene::example("confine-launcher"), &["--without", means], all);
}

async fn start(scene: &Scene, trust: TrustLevel, grants: &[ConfinementGrant]) -> Result<Child, SpawnError> {
    let profile = scene.decide(trust, grants, "/bin/true", &[]);
    let spec = CommandSpec { program: "/bin/true".into(), profile: Some(profile.into()), ..CommandSpec::default() };
    Child::spawn(&spec).await
}

async fn refused(scene: &Scene, trust: TrustLevel, grants: &[ConfinementGrant], words: &[&str]) {
    let error = start(scene, trust, grants).await.map(drop).unwrap_err();
    assert!(matches!(error, SpawnError::NotConfined { .. }), "{error}");
    let text = error.to_string();
    for word in words.iter().chain(&["isolation = \"off\""]) {
        assert!(text.contains(word), "{word}: {text}");
    }
}

#[tokio::test]
async fn what_cannot_be_enforced_is_not_started() {
    let scene = Scene::new();
    let (standard, untrusted) = (TrustLevel::Standard, TrustLevel::Untrusted);
    let hosts = [ConfinementGrant { permission: "network.outbound".to_owned(), scope: vec!["example.com".to_owned()] }];
    // Without anything missing the same program starts, so what follows is not for another reason.
    confine::install(scene::example("confine-launcher"), &[], |_| true);
    for trust in [standard, untrusted] {
        start(&scene, trust, &hosts).await.unwrap().wait().await;
    }

    for means in ["landlock", "seccomp", "limits", "privileges"] {
        lack(means);
        for trust in [standard, untrusted] {
            refused(&scene, trust, &[], &["cannot be enforced on this machine"]).await;
        }
        let report = confine::ability().await.unwrap();
        let whole = matches!(means, "limits");
        assert_eq!(report.can_confine(), whole, "{means}: {report:?}");
    }

    lack("namespaces");
    refused(&scene, standard, &hosts, &["the list of hosts", "user namespaces"]).await;
    refused(&scene, standard, &[], &["the bound on processes", "user namespaces"]).await;
    let report = confine::ability().await.unwrap();
    assert!(report.can_confine() && !report.can_confine_standard(), "{report:?}");
    // The strictest profile needs none: everything is held by the other means.
    attempts::attempt_all(untrusted).await;
}
