//! The table of levels, and everything that moves a server inside of it.

use super::*;

fn places() -> Places {
    Places {
        runtime: vec!["/usr".into()],
        program: vec!["/home/alice/srv".into()],
        linked: vec![(vec!["/home/alice/work/run.js".into(), "/srv/hop.js".into()], "/srv/app".into())],
        cwd: Some("/home/alice/work".into()),
        home: Some("/home/alice".into()),
        sandbox: "/home/alice/.local/share/mgp/sandboxes/s".into(),
        private: vec!["/home/alice/.local/share/mgp".into(), "/home/alice/.config/mgp".into()],
        aliases: vec![("/homes".into(), "/home".into())],
    }
}

fn grant(permission: &str, scope: &[&str]) -> ConfinementGrant {
    ConfinementGrant { permission: permission.to_owned(), scope: scope.iter().map(|text| (*text).to_owned()).collect() }
}

fn of(trust: TrustLevel, grants: &[ConfinementGrant]) -> Decision {
    Decision::of(trust, grants, &Overrides::default(), &places())
}

fn paths(profile: &ConfinementProfile) -> (Vec<&str>, Vec<&str>) {
    let FileAccess::Paths { read, write, .. } = &profile.files else { panic!("{profile:?}") };
    let text = |list: &'_ Vec<PathBuf>| list.iter().map(|path| path.to_str().unwrap().to_owned()).collect::<Vec<_>>();
    let leak = |list: Vec<String>| list.into_iter().map(|text| &*text.leak()).collect();
    (leak(text(read)), leak(text(write)))
}

#[test]
fn the_table_of_levels() {
    for (trust, memory, cpu, children, network, violation) in [
        (TrustLevel::Standard, 512, 60, 5, NetworkAccess::None, Violation::Refuse),
        (TrustLevel::Experimental, 256, 30, 0, NetworkAccess::None, Violation::Kill),
        (TrustLevel::Untrusted, 128, 10, 0, NetworkAccess::None, Violation::Kill),
    ] {
        let profile = of(trust, &[]).profile;
        assert_eq!(profile.memory_bytes, Some(memory << 20), "{trust}");
        assert_eq!(profile.cpu_seconds, Some(cpu), "{trust}");
        assert_eq!(profile.processes, Some(children), "{trust}");
        assert_eq!(profile.network, network, "{trust}");
        assert_eq!(profile.violation, violation, "{trust}");
        assert!(!profile.is_unrestricted());
    }
    assert!(of(TrustLevel::Core, &[]).profile.is_unrestricted());
}

#[test]
fn files_widen_with_the_level() {
    let sandbox = "/home/alice/.local/share/mgp/sandboxes/s";
    let (read, write) = (vec!["/home/alice/srv", "/srv/app", "/usr"], Vec::<&str>::new());
    assert_eq!(paths(&of(TrustLevel::Untrusted, &[]).profile), (read, write.clone()));
    let read = vec![sandbox, "/home/alice/srv", "/home/alice/work", "/srv/app", "/usr"];
    assert_eq!(paths(&of(TrustLevel::Experimental, &[]).profile), (read.clone(), write));
    assert_eq!(paths(&of(TrustLevel::Standard, &[]).profile), (read, vec![sandbox]));
}

#[test]
fn grants_widen_up_to_the_cap() {
    let all = [
        grant("network.outbound", &["api.test:8443", "*.cdn.test"]),
        grant("filesystem.write", &["/srv/data/**", "~/notes"]),
        grant("filesystem.read", &["/srv/books", "/homes/alice/books"]),
        grant("shell.execute", &[]),
    ];
    // Nothing widens what is not trusted.
    assert_eq!(of(TrustLevel::Untrusted, &all).profile, of(TrustLevel::Untrusted, &[]).profile);
    for trust in [TrustLevel::Experimental, TrustLevel::Standard] {
        let Decision { profile, notes } = of(trust, &all);
        assert_eq!(notes, Vec::<String>::new());
        let (read, write) = paths(&profile);
        assert!(read.contains(&"/srv/books") && read.contains(&"/home/alice/books"), "{read:?}");
        assert!(write.contains(&"/srv/data") && write.contains(&"/home/alice/notes"), "{write:?}");
        let NetworkAccess::Hosts(hosts) = &profile.network else { panic!("{profile:?}") };
        assert_eq!(hosts.iter().map(ToString::to_string).collect::<Vec<_>>(), ["api.test:8443", "*.cdn.test"]);
        assert_eq!(profile.processes, Some(if trust == TrustLevel::Standard { 5 } else { 1 }));
    }
    // Without a host the grant means any host, still through the proxy.
    let network = of(TrustLevel::Standard, &[grant("network.outbound", &[])]).profile.network;
    assert_eq!(network, NetworkAccess::Hosts(vec![HostRule::anywhere()]));
}

#[test]
fn what_cannot_be_enforced_or_holds_secrets_is_not_given() {
    for path in [
        "/",
        "/home",
        "~/",
        "/home/alice",
        "/homes/alice",
        "/homes",
        "/home/alice/.local/share/mgp",
        "/home/alice/.local/share/mgp/sandboxes/other",
        "/home/alice/.local",
        "/home/alice/.config/mgp/servers.toml",
        "/srv/../home",
        "relative",
        "/srv/*.txt",
        "/srv/**/x",
    ] {
        for permission in ["filesystem.read", "filesystem.write"] {
            let base = of(TrustLevel::Standard, &[grant(permission, &["/srv/plain"])]);
            let more = of(TrustLevel::Standard, &[grant(permission, &["/srv/plain", path])]);
            assert_eq!(base.profile, more.profile, "{path}");
            assert_eq!(more.notes.len(), 1, "{path}: {:?}", more.notes);
        }
    }
    let mut elsewhere = places();
    for cwd in ["/", "/home/alice", "/home"] {
        elsewhere.cwd = Some(cwd.into());
        let given = Decision::of(TrustLevel::Standard, &[], &Overrides::default(), &elsewhere);
        assert!(!paths(&given.profile).0.contains(&cwd), "{cwd}");
    }
    let bad = of(TrustLevel::Standard, &[grant("network.outbound", &["http://x"])]);
    assert_eq!((bad.profile.network, bad.notes.len()), (NetworkAccess::None, 1));
}

#[test]
fn the_operator_moves_the_bounds_inside_the_cap() {
    let wish = Overrides {
        memory_limit_mb: Some(2_048),
        cpu_time_limit_secs: Some(600),
        filesystem_scope: Some(FilesystemScope::Unrestricted),
        network_scope: Some(NetworkScope::Unrestricted),
        max_child_processes: Some(20),
    };
    let outcome = |trust| Decision::of(trust, &[], &wish, &places());
    let standard = outcome(TrustLevel::Standard);
    assert_eq!(standard.profile.memory_bytes, Some(2_048 << 20));
    assert_eq!(standard.profile.cpu_seconds, Some(600));
    assert_eq!(standard.profile.processes, Some(20));
    // Never without a scope.
    assert!(matches!(standard.profile.files, FileAccess::Paths { .. }));
    assert_eq!(standard.profile.network, NetworkAccess::None);
    assert_eq!(standard.notes.len(), 2, "{:?}", standard.notes);

    let experimental = outcome(TrustLevel::Experimental);
    assert_eq!(experimental.profile.memory_bytes, Some(512 << 20));
    assert_eq!(experimental.profile.cpu_seconds, Some(60));
    assert_eq!(experimental.profile.processes, Some(5));
    assert_eq!(experimental.notes.len(), 5);

    assert_eq!(outcome(TrustLevel::Untrusted).profile, of(TrustLevel::Untrusted, &[]).profile);

    let narrow = Overrides {
        memory_limit_mb: Some(64),
        filesystem_scope: Some(FilesystemScope::None),
        max_child_processes: Some(0),
        ..Overrides::default()
    };
    let narrowed = Decision::of(TrustLevel::Standard, &[grant("filesystem.write", &["/srv"])], &narrow, &places());
    assert_eq!(narrowed.notes, Vec::<String>::new());
    assert_eq!(narrowed.profile.memory_bytes, Some(64 << 20));
    assert_eq!(narrowed.profile.processes, Some(0));
    assert_eq!(paths(&narrowed.profile).1, Vec::<&str>::new());
}

#[test]
fn who_is_confined() {
    use ConfinementMode::{Off, Trust, Untrusted};
    use TrustLevel as Level;
    for (trust, of_all, of_this, expected) in [
        (Level::Core, Trust, None, false),
        (Level::Core, Trust, Some(Trust), false),
        (Level::Standard, Off, None, false),
        (Level::Standard, Untrusted, None, false),
        (Level::Standard, Trust, None, true),
        (Level::Standard, Off, Some(Trust), true),
        (Level::Standard, Trust, Some(Off), false),
        (Level::Experimental, Off, None, true),
        (Level::Untrusted, Off, None, true),
        (Level::Untrusted, Untrusted, None, true),
        (Level::Untrusted, Trust, Some(Off), false),
    ] {
        assert_eq!(confined(trust, of_all, of_this), expected, "{trust} {of_all:?} {of_this:?}");
    }
}

#[test]
fn a_profile_survives_its_journey() {
    for trust in [TrustLevel::Standard, TrustLevel::Untrusted] {
        let profile = of(trust, &[grant("network.outbound", &["a.test", "[::1]:99"])]).profile;
        let text = serde_json::to_string(&profile).unwrap();
        assert_eq!(serde_json::from_str::<ConfinementProfile>(&text).unwrap(), profile);
    }
}

#[test]
fn what_a_link_leads_to_is_not_given_to_who_can_change_the_link() {
    for (folder, given) in [("/home/alice/work", false), ("/srv", false), ("/srv/other", true)] {
        let profile = of(TrustLevel::Standard, &[grant("filesystem.write", &[folder])]).profile;
        assert_eq!(paths(&profile).0.contains(&"/srv/app"), given, "{folder}");
    }
    let whole = of(TrustLevel::Standard, &[grant("filesystem.write", &[])]).profile;
    assert!(!paths(&whole).0.contains(&"/srv/app"));
}

#[test]
fn what_everybody_gets_does_not_hold_our_own_files() {
    let mut strange = places();
    strange.runtime = vec!["/usr".into(), "/opt".into(), "/lib".into()];
    strange.private.push("/opt/mgp/data".into());
    let Decision { profile, notes } = Decision::of(TrustLevel::Untrusted, &[], &Overrides::default(), &strange);
    let (read, _) = paths(&profile);
    assert!(read.contains(&"/usr") && read.contains(&"/lib") && !read.contains(&"/opt"), "{read:?}");
    assert_eq!(notes.len(), 1, "{notes:?}");
}
