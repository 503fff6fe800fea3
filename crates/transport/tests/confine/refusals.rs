//! What cannot be started is explained, as it is for processes that nothing confines.

use switchboard_protocol::mgp::TrustLevel;
use switchboard_transport::child::SpawnError;
use switchboard_transport::confine::{self, ConfinementGrant, ConfinementProfile};

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
    let ran = scene.confined("read_home_file", ConfinementProfile::unrestricted()).await;
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

/// A server that may write somewhere puts links there and waits for its next start.
#[tokio::test]
async fn links_that_a_server_made_lead_nowhere() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    install();
    let scene = Scene::new();
    std::fs::create_dir(scene.path("work/data")).unwrap();
    let grants: Vec<ConfinementGrant> = ["work", "work/data"]
        .map(|name| ConfinementGrant {
            permission: "filesystem.write".to_owned(),
            scope: vec![scene.path(name).display().to_string()],
        })
        .into();
    let program = scene.path("program/hostile-server").display().to_string();
    let profile = scene.decide(TrustLevel::Standard, &grants, &program, &[]);
    // What was a granted folder is now a link to the home.
    std::fs::remove_dir(scene.path("work/data")).unwrap();
    symlink(scene.path("home"), scene.path("work/data")).unwrap();
    let mut scene = scene;
    for attempt in ["read_home_file", "read_ssh_key", "list_home"] {
        let ran = scene.confined(attempt, profile.clone()).await;
        assert!(ran.stdout.contains("\"held\""), "{ran:?}");
    }
    assert!(scene.victim_lives());

    // The folder of its own home is a link to somebody else's: nobody changes the mode of that, and nothing starts.
    let outside = scene.path("outside");
    std::fs::set_permissions(&outside, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::remove_dir_all(scene.path("data/sandboxes/s/home")).unwrap();
    symlink(&outside, scene.path("data/sandboxes/s/home")).unwrap();
    let error = refusal(&scene.spec(&program, &[], profile)).await;
    assert!(matches!(error, SpawnError::NotConfined { .. }), "{error}");
    let mode = std::fs::metadata(&outside).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o755);
}
