//! Search order, merge, trust, and the rights of files; on a disk.

use std::fs;
use std::path::{Path, PathBuf};

use switchboard_config::{
    Endpoint, Environment, ErrorKind, Loaded, Origin, Sources, Trust, WriteError, load, read_checked, write_replacing,
};
use tempfile::TempDir;

struct Home {
    root: TempDir,
    variables: Vec<(String, String)>,
    explicit: Option<PathBuf>,
}

impl Home {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let home = Self { variables: Vec::new(), explicit: None, root };
        fs::create_dir_all(home.path("project")).unwrap();
        let folder = home.path("home").display().to_string();
        home.set("HOME", &folder)
    }

    fn path(&self, path: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(path)
    }

    fn set(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    fn file(&self, path: &str, text: &str) -> PathBuf {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        mode(&path, 0o600);
        path
    }

    fn user(&self, text: &str) -> PathBuf {
        self.file("home/.config/mgp/servers.toml", text)
    }

    fn project(&self, text: &str) -> PathBuf {
        self.file("project/mgp.toml", text)
    }

    fn try_load(&self) -> Result<Loaded, switchboard_config::ConfigError> {
        let environment: Environment = self.variables.iter().cloned().collect();
        load(&Sources { explicit: self.explicit.clone(), folder: self.path("project"), environment })
    }

    fn load(&self) -> Loaded {
        self.try_load().unwrap()
    }
}

fn mode(path: &Path, mode: u32) {
    #[cfg(unix)]
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
    #[cfg(not(unix))]
    let _ = (path, mode);
}

fn server(id: &str, command: &str) -> String {
    format!("[[servers]]\nid = \"{id}\"\ncommand = \"{command}\"\n")
}

fn ids(loaded: &Loaded) -> Vec<(&str, Origin, bool)> {
    loaded.config.servers.iter().map(|server| (server.id(), server.origin, server.endpoint().is_ok())).collect()
}

#[test]
fn nothing_there_is_the_default() {
    let home = Home::new();
    let loaded = home.load();
    assert_eq!(loaded.config, switchboard_config::Config::default());
    assert!(loaded.files.is_empty() && loaded.warnings.is_empty());
    assert_eq!(loaded.watch, [home.path("home/.config/mgp/servers.toml"), home.path("project/mgp.toml")]);
    #[cfg(target_os = "linux")]
    assert_eq!(loaded.data_dir, home.path("home/.local/share/switchboard"));
}

#[test]
fn an_explicit_file_is_read_alone() {
    let mut home = Home::new().set("MGP_CONFIG_PATH", "/nowhere");
    home.user(&server("user", "x"));
    home.project(&server("project", "x"));
    home.explicit = Some("mgp.toml".into());
    assert_eq!(ids(&home.load()), [("project", Origin::Explicit, true)]);
    home.explicit = Some("missing.toml".into());
    let error = home.try_load().unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::NotFound);
    assert_eq!(
        error.to_string(),
        format!(
            "{}: no such file\n = help: check the path, or create the file with `switchboard init`",
            home.path("project/missing.toml").display()
        )
    );
}

#[test]
fn the_variable_overrides_alone() {
    let home = Home::new().set("MGP_CONFIG_PATH", "~/other.toml");
    home.user(&server("user", "x"));
    home.project(&server("project", "x"));
    assert_eq!(*home.try_load().unwrap_err().kind(), ErrorKind::NotFound);
    home.file("home/other.toml", &server("other", "x"));
    assert_eq!(ids(&home.load()), [("other", Origin::Environment, true)]);
}

#[test]
fn a_project_starts_nothing_until_its_exact_command_is_trusted() {
    let home = Home::new();
    home.user(&server("mine", "x"));
    let project = home.project(&server("theirs", "evil"));
    let loaded = home.load();
    assert_eq!(ids(&loaded), [("mine", Origin::User, true), ("theirs", Origin::Project, false)]);
    assert_eq!(
        loaded.config.server("theirs").unwrap().problem().unwrap().to_string(),
        format!(
            "{}:1:1: server \"theirs\": declared by the project, and not trusted yet\n  = help: look at its command, then run `switchboard trust theirs`",
            project.display()
        )
    );

    let mut trust = Trust::read(&loaded.data_dir).unwrap();
    trust.trust(&loaded.untrusted[0]).unwrap();
    let loaded = home.load();
    assert_eq!(ids(&loaded), [("mine", Origin::User, true), ("theirs", Origin::Project, true)]);
    assert!(loaded.untrusted.is_empty());

    for changed in [
        server("theirs", "worse"),
        format!("{}args = [\"x\"]\n", server("theirs", "evil")),
        format!("{}env = {{ LD_PRELOAD = \"./evil.so\" }}\n", server("theirs", "evil")),
        format!("{}pass_env = [\"AWS_SECRET_ACCESS_KEY\"]\n", server("theirs", "evil")),
        format!("{}cwd = \"x\"\n", server("theirs", "evil")),
        format!("{}mgp = {{ trust_level = \"trusted\" }}\n", server("theirs", "evil")),
        format!("{}call_timeout_ms = 5\n", server("theirs", "evil")),
        "[[servers]]\nid = \"theirs\"\nurl = \"https://evil.test\"\n".to_owned(),
    ] {
        home.project(&changed);
        assert_eq!(ids(&home.load())[1], ("theirs", Origin::Project, false), "{changed}");
    }
    home.project(&format!("# harmless\n{}", server("theirs", "evil")));
    assert!(ids(&home.load())[1].2, "a comment asks nobody again");

    let mut trust = Trust::read(&loaded.data_dir).unwrap();
    assert_eq!(trust.revoke(&project, "theirs").unwrap(), 1);
    assert!(!ids(&home.load())[1].2);
}

#[test]
fn trust_is_for_one_file() {
    let home = Home::new();
    home.project(&server("theirs", "run"));
    let loaded = home.load();
    Trust::read(&loaded.data_dir).unwrap().trust(&loaded.untrusted[0]).unwrap();
    fs::rename(home.path("project"), home.path("elsewhere")).unwrap();
    fs::create_dir(home.path("project")).unwrap();
    assert!(home.load().config.servers.is_empty());
    #[cfg(unix)]
    {
        fs::copy(home.path("elsewhere/mgp.toml"), home.path("elsewhere/copy.toml")).unwrap();
        std::os::unix::fs::symlink(home.path("elsewhere/copy.toml"), home.path("project/mgp.toml")).unwrap();
        assert!(!ids(&home.load())[0].2, "a link to another file does not borrow the approval");
    }
}

#[test]
fn a_damaged_or_foreign_trust_list_trusts_nothing() {
    let home = Home::new();
    home.project(&server("theirs", "run"));
    let loaded = home.load();
    Trust::read(&loaded.data_dir).unwrap().trust(&loaded.untrusted[0]).unwrap();
    assert!(ids(&home.load())[0].2);
    let list = loaded.data_dir.join("trust.json");
    let good = fs::read_to_string(&list).unwrap();
    fs::write(&list, "{").unwrap();
    let damaged = home.load();
    assert!(!ids(&damaged)[0].2);
    assert!(damaged.warnings[0].contains("trust.json"), "{:?}", damaged.warnings);
    fs::write(&list, good).unwrap();
    mode(&list, 0o622);
    #[cfg(unix)]
    assert!(!ids(&home.load())[0].2);
}

#[test]
fn a_project_takes_a_name_only_once_trusted() {
    let home = Home::new();
    home.user(&(server("same", "mine") + &server("files", "mine")));
    home.project(&(server("same", "theirs") + &server("FILES", "theirs")));
    let program = |loaded: &Loaded| match loaded.config.server("same").unwrap().endpoint() {
        Ok(Endpoint::Stdio(endpoint)) => endpoint.program.clone(),
        other => panic!("{other:?}"),
    };
    let loaded = home.load();
    assert_eq!(program(&loaded), "mine");
    assert_eq!(loaded.untrusted.iter().map(switchboard_config::Server::id).collect::<Vec<_>>(), ["same", "FILES"]);
    assert!(matches!(loaded.config.rejected[0].kind(), ErrorKind::LookAlike { .. }));
    Trust::read(&loaded.data_dir).unwrap().trust(&loaded.untrusted[0]).unwrap();
    assert_eq!(program(&home.load()), "theirs");
    assert_eq!(ids(&home.load()).len(), 2);
}

#[test]
fn a_project_cannot_change_settings_or_break_the_user() {
    let home = Home::new();
    home.user(&format!("listen = \"127.0.0.1:1\"\n{}", server("mine", "x")));
    let project = home.project("listen = \"0.0.0.0:2\"\napproval_policy = \"auto_approve\"\ndata_dir = \"here\"\n");
    let loaded = home.load();
    assert_eq!(loaded.config.settings.listen.to_string(), "127.0.0.1:1");
    assert_eq!(
        loaded.warnings,
        [format!(
            "{}: `listen`, `approval_policy`, `data_dir` of a project file is not used; name the file with `--config` to use all of it",
            project.display()
        )]
    );
    home.project("[[servers\n");
    let loaded = home.load();
    assert_eq!(ids(&loaded), [("mine", Origin::User, true)]);
    assert!(matches!(loaded.files[1].error.as_ref().unwrap().kind(), ErrorKind::Syntax(_)));
    assert!(loaded.warnings[0].starts_with("the project's file was left out: "));

    home.user("[[servers\n");
    assert!(matches!(home.try_load().unwrap_err().kind(), ErrorKind::Syntax(_)));
}

#[cfg(unix)]
#[test]
fn files_that_others_may_change_are_refused() {
    let home = Home::new();
    let path = home.user(&server("mine", "x"));
    for bad in [0o620, 0o602, 0o666, 0o664] {
        mode(&path, bad);
        let error = home.try_load().unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("{0}: others may write to it (mode {bad:o})\n = help: run `chmod go-w {0}`", path.display())
        );
    }
    for good in [0o600, 0o644, 0o400] {
        mode(&path, good);
        assert_eq!(ids(&home.load()).len(), 1);
    }
}

#[cfg(unix)]
#[test]
fn only_plain_utf8_files_of_a_sane_size_are_read() {
    let home = Home::new();
    assert_eq!(*read_checked(&home.path("project")).unwrap_err().kind(), ErrorKind::NotAFile);
    assert_eq!(*read_checked(Path::new("/dev/null")).unwrap_err().kind(), ErrorKind::NotAFile);
    let path = home.file("binary", "");
    fs::write(&path, b"a\nb\xff").unwrap();
    assert_eq!(read_checked(&path).unwrap_err().kind().to_string(), "cannot be read: line 2 is not UTF-8");
    fs::write(&path, vec![b'#'; (4 << 20) + 1]).unwrap();
    assert_eq!(read_checked(&path).unwrap_err().kind().to_string(), "larger than 4194304 bytes");
}

#[test]
fn a_file_is_replaced_whole_with_a_backup() {
    let home = Home::new();
    let path = home.path("new/deep/mgp.toml");
    assert_eq!(write_replacing(&path, None, "one", Some("1")).unwrap(), None);
    assert_eq!(fs::read_to_string(&path).unwrap(), "one");
    let backup = write_replacing(&path, Some("one"), "two", Some("20260101T000000")).unwrap().unwrap();
    assert_eq!(backup.file_name().unwrap(), "mgp.toml.bak-20260101T000000");
    assert_eq!(fs::read_to_string(&backup).unwrap(), "one");
    assert_eq!(fs::read_to_string(&path).unwrap(), "two");

    for stale in [None, Some("one")] {
        assert!(matches!(write_replacing(&path, stale, "three", None), Err(WriteError::Changed(_))));
    }
    assert!(write_replacing(&path, Some("two"), "three", Some("20260101T000000")).is_err(), "no backup is overwritten");
    assert_eq!(fs::read_to_string(&path).unwrap(), "two");
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 2, "no temporary file stays");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        for (path, expected) in [(path.as_path(), 0o600), (&backup, 0o600), (path.parent().unwrap(), 0o700)] {
            assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, expected);
        }
        let link = home.path("link.toml");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        write_replacing(&link, Some("two"), "three", None).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&path).unwrap(), "three");
    }
}
