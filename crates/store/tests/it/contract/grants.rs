//! Permissions and access entries.

use serde_json::json;
use switchboard_store::{
    AccessEntry, AccessSelector, EntryType, Permission, PermissionDecision, ServerPermission, StoreError,
};

use crate::sample::{Fixture, at, json_text};

fn entry(principal: &str, server: &str, tool: Option<&str>, permission: Permission) -> AccessEntry {
    AccessEntry {
        principal: principal.to_owned(),
        server: server.to_owned(),
        tool: tool.map(str::to_owned),
        permission,
        granted_by: "operator".to_owned(),
        granted_at: at(1),
        expires_at: None,
        justification: None,
        scopes: None,
    }
}

pub(crate) async fn are_put_listed_and_revoked(fixture: &mut Fixture) {
    let grants = fixture.store.grants();
    let empty = grants.load().await.unwrap();
    assert!(empty.access.is_empty() && empty.permissions.is_empty());
    let full = AccessEntry {
        expires_at: Some(at(500)),
        justification: Some("it's needed".to_owned()),
        scopes: Some(json_text(&json!({"paths": ["/data/**"], "n": 1.0}))),
        ..entry("agent", "files", Some("read"), Permission::Allow)
    };
    let first = grants.put_access(&full).await.unwrap();
    assert!(first > empty.revision);
    assert_eq!(grants.revision().await.unwrap(), first);
    fixture.reopen().await;
    let grants = fixture.store.grants();
    let loaded = grants.load().await.unwrap();
    assert_eq!((loaded.revision, loaded.access.len()), (first, 1));
    assert_eq!(format!("{:?}", loaded.access[0]), format!("{full:?}"));
    assert_eq!(loaded.access[0].entry_type(), EntryType::ToolGrant);
    // The same again replaces.
    let longer = AccessEntry { expires_at: None, ..full.clone() };
    assert!(grants.put_access(&longer).await.unwrap() > first);
    let loaded = grants.load().await.unwrap();
    assert_eq!(loaded.access.len(), 1);
    assert_eq!(loaded.access[0].expires_at, None);
    let selector = AccessSelector { principal: Some("agent".to_owned()), ..AccessSelector::default() };
    assert_eq!(grants.revoke_access(&selector).await.unwrap().len(), 1);
    assert!(grants.load().await.unwrap().access.is_empty());
    assert!(grants.revoke_access(&selector).await.unwrap().is_empty());
}

pub(crate) async fn allow_and_deny_stand_side_by_side(fixture: &mut Fixture) {
    let grants = fixture.store.grants();
    for tool in [None, Some(""), Some("read")] {
        for permission in [Permission::Allow, Permission::Deny] {
            grants.put_access(&entry("agent", "files", tool, permission)).await.unwrap();
            grants.put_access(&entry("agent", "files", tool, permission)).await.unwrap();
        }
    }
    assert_eq!(grants.load().await.unwrap().access.len(), 6);
}

pub(crate) async fn a_revoke_takes_what_it_names(fixture: &mut Fixture) {
    let grants = fixture.store.grants();
    let text = |text: &str| Some(text.to_owned());
    let any = AccessSelector::default;
    let files = || AccessSelector { principal: text("a"), server: text("files"), ..AccessSelector::default() };
    let cases = [
        // The whole server: the tool grants beneath it go too.
        (files(), 4),
        (AccessSelector { entry_type: Some(EntryType::ServerGrant), ..files() }, 2),
        (AccessSelector { entry_type: Some(EntryType::ToolGrant), ..files() }, 2),
        (AccessSelector { tool: text("read"), ..files() }, 1),
        (AccessSelector { permission: Some(Permission::Deny), ..files() }, 1),
        (AccessSelector { server: text("files"), ..any() }, 5),
        (AccessSelector { principal: text("b"), ..any() }, 1),
        (AccessSelector { principal: text("nobody"), ..any() }, 0),
    ];
    for (selector, expected) in cases {
        for (principal, server, tool, permission) in [
            ("a", "files", None, Permission::Allow),
            ("a", "files", None, Permission::Deny),
            ("a", "files", Some("read"), Permission::Allow),
            ("a", "files", Some("write"), Permission::Allow),
            ("a", "shell", None, Permission::Allow),
            ("b", "files", None, Permission::Allow),
        ] {
            grants.put_access(&entry(principal, server, tool, permission)).await.unwrap();
        }
        assert_eq!(grants.revoke_access(&selector).await.unwrap().len(), expected, "{selector:?}");
        assert_eq!(grants.load().await.unwrap().access.len(), 6 - expected, "{selector:?}");
    }
    assert!(matches!(grants.revoke_access(&any()).await, Err(StoreError::Conflict(_))));
}

pub(crate) async fn permissions_of_servers_keep_their_scopes(fixture: &mut Fixture) {
    let grants = fixture.store.grants();
    let permission = |name: &str, decision| ServerPermission {
        server: "terminal".to_owned(),
        permission: name.to_owned(),
        decision,
        granted_by: "operator".to_owned(),
        granted_at: at(3),
        expires_at: Some(at(900)),
        justification: None,
        scopes: Some(json_text(&json!({"commands": ["git *"], "allow_sudo": false}))),
    };
    grants.put_permission(&permission("shell.execute", PermissionDecision::Deferred)).await.unwrap();
    grants.put_permission(&permission("shell.execute", PermissionDecision::Approved)).await.unwrap();
    grants.put_permission(&permission("com.example.custom", PermissionDecision::Denied)).await.unwrap();
    // A question does not undo an answer.
    grants.ask_permission(&permission("shell.execute", PermissionDecision::Deferred)).await.unwrap();
    grants.ask_permission(&permission("com.example.custom", PermissionDecision::Deferred)).await.unwrap();
    let loaded = grants.load().await.unwrap().permissions;
    assert_eq!(loaded.len(), 2);
    let shell = loaded.iter().find(|found| found.permission == "shell.execute").unwrap();
    assert_eq!(format!("{shell:?}"), format!("{:?}", permission("shell.execute", PermissionDecision::Approved)));
    assert_eq!(grants.revoke_permission("terminal", Some("shell.execute")).await.unwrap().len(), 1);
    assert_eq!(grants.revoke_permission("terminal", None).await.unwrap().len(), 1);
    assert!(grants.load().await.unwrap().permissions.is_empty());
}
