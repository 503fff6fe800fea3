//! What cannot be started is explained, as it is for processes that nothing confines.

use switchboard_protocol::mgp::TrustLevel;
use switchboard_transport::child::SpawnError;
use switchboard_transport::confine::{self, Profile};

use crate::scene::{Scene, install, refusal};

#[tokio::test]
async fn what_cannot_be_started_is_explained() {
    install();
    let scene = Scene::new();
    let profile = || scene.hostile_profile(TrustLevel::Untrusted);
    let error = refusal(&scene.spec("no-such-program-here", &[], profile())).await;
    assert!(matches!(error, SpawnError::NotFound { .. }), "{error}");
    assert!(error.to_string().contains("Install it"), "{error}");
    let error = refusal(&scene.spec("/etc/passwd", &[], profile())).await;
    assert!(matches!(error, SpawnError::Denied { .. }), "{error}");
    let outside = scene.path("outside/hostile-server").display().to_string();
    let error = refusal(&scene.spec(&outside, &[], profile())).await;
    assert!(matches!(error, SpawnError::Denied { .. }), "{error}");
}

#[tokio::test]
async fn a_profile_without_bounds_needs_no_launcher() {
    let scene = Scene::new();
    let ran = scene.confined("read_home_file", Profile::unrestricted()).await;
    assert!(ran.stdout.contains("\"got\""), "{ran:?}");
}

#[tokio::test]
async fn the_report_names_every_means() {
    install();
    let report = confine::ability().await.unwrap();
    assert!(report.landlock > 0, "{report:?}");
    assert!(report.abilities.len() >= 6);
    println!("{report:#?}");
    assert!(report.can_confine(), "{report:?}");
}
