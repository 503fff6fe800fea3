//! A home with secrets, a server's own folder, and somebody else's process: what attempts aim at.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use switchboard_protocol::mgp::TrustLevel;
use switchboard_transport::child::{Child, CommandSpec, SpawnError};
use switchboard_transport::confine::{
    self, ConfinedServer, ConfinementGrant, ConfinementProfile, Decision, ExitCause, Overrides, Places,
};
use tempfile::TempDir;
use tokio::io::AsyncReadExt as _;

/// What no confined process may find.
pub(crate) const TOKEN: &str = "token-7f3a90c1";

/// A built example of this crate.
pub(crate) fn example(name: &str) -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let path = own.parent().unwrap().parent().unwrap().join("examples").join(name);
    assert!(path.is_file(), "{} is not built: cargo build --examples", path.display());
    path
}

/// Loopback addresses are private, so that grants of names cannot reach this machine.
pub(crate) fn install() {
    let public = |address: IpAddr| !address.is_loopback();
    confine::install(example("confine-launcher"), &[], public);
}

pub(crate) struct Scene {
    folder: TempDir,
    victim: std::process::Child,
    tcp: TcpListener,
    udp: UdpSocket,
    unix: UnixListener,
    datagrams: UnixDatagram,
    hidden: UnixListener,
    hidden_name: String,
}

impl Scene {
    pub(crate) fn new() -> Self {
        Self::below(&std::env::temp_dir())
    }

    pub(crate) fn below(place: &Path) -> Self {
        let folder = tempfile::tempdir_in(place).unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["home/.ssh", "data/sandboxes/s/tmp", "outside", "program", "work", "free-tmp"] {
            fs::create_dir_all(at(name)).unwrap();
        }
        for name in ["home/.ssh/id_secret", "home/notes.txt", "data/kernel.db", "outside/file", "leaked"] {
            fs::write(at(name), TOKEN).unwrap();
            fs::set_permissions(at(name), fs::Permissions::from_mode(0o600)).unwrap();
        }
        for name in ["program/hostile-server", "outside/hostile-server"] {
            let original = example("hostile-server");
            // Not copied by us: a process that is started meanwhile would inherit the file open for writing, and nobody
            // could run it.
            assert!(Command::new("cp").arg(&original).arg(at(name)).status().unwrap().success());
        }
        let victim = Command::new("/bin/sh")
            .args(["-c", "read line", TOKEN])
            .env("SECRET", TOKEN)
            .current_dir(at("home/.ssh"))
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let hidden_name = format!("switchboard-test-{}-{}", std::process::id(), victim.id());
        let hidden = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&hidden_name).unwrap()).unwrap();
        let (tcp, udp) = (TcpListener::bind("127.0.0.1:0").unwrap(), UdpSocket::bind("127.0.0.1:0").unwrap());
        let unix = UnixListener::bind(at("outside/socket")).unwrap();
        tcp.set_nonblocking(true).unwrap();
        udp.set_nonblocking(true).unwrap();
        let datagrams = UnixDatagram::bind(at("outside/datagrams")).unwrap();
        datagrams.set_nonblocking(true).unwrap();
        unix.set_nonblocking(true).unwrap();
        hidden.set_nonblocking(true).unwrap();
        Self { folder, victim, tcp, udp, unix, datagrams, hidden, hidden_name }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn aims(&self) -> String {
        let text = |name: &str| self.path(name).display().to_string();
        format!(
            r#"{{"ssh_key":{:?},"home_file":{:?},"home":{:?},"data_file":{:?},"outside":{:?},"outside_file":{:?},
            "outside_program":{:?},"unix_path":{:?},"datagram_path":{:?},"abstract_name":{:?},"victim":{},"tcp_port":{},"udp_port":{},
            "processes":300,"megabytes":300,"files":5000}}"#,
            text("home/.ssh/id_secret"),
            text("home/notes.txt"),
            text("home"),
            text("data/kernel.db"),
            text("outside"),
            text("outside/file"),
            text("outside/hostile-server"),
            text("outside/socket"),
            text("outside/datagrams"),
            self.hidden_name,
            self.victim.id(),
            self.tcp.local_addr().unwrap().port(),
            self.udp.local_addr().unwrap().port(),
        )
    }

    /// The profile of a server that runs in `work`.
    pub(crate) fn decide(
        &self,
        trust: TrustLevel,
        grants: &[ConfinementGrant],
        program: &str,
        args: &[&str],
    ) -> ConfinementProfile {
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut places = Places::find(&ConfinedServer {
            program,
            args: &args,
            cwd: &self.path("work"),
            path: &path,
            home: Some(&self.path("home")),
            sandbox: &self.path("data/sandboxes/s"),
            private: &[self.path("data")],
        });
        // The interpreters of this machine may be below a real home folder.
        let real_home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
        places.runtime.extend([".pyenv", ".nvm", ".local/share/uv"].map(|name| real_home.join(name)));
        Decision::of(trust, grants, &Overrides::default(), &places).profile
    }

    pub(crate) fn spec(&self, program: &str, args: &[&str], profile: ConfinementProfile) -> CommandSpec {
        CommandSpec {
            program: program.to_owned(),
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            cwd: Some(self.path("work")),
            profile: Some(profile.into()),
            ..CommandSpec::default()
        }
    }

    /// Makes an attempt in a confined process.
    pub(crate) async fn confined(&self, attempt: &str, profile: ConfinementProfile) -> Ran {
        let program = self.path("program/hostile-server").display().to_string();
        let spec = self.spec(&program, &[attempt, &self.aims()], profile);
        Ran::of(Child::spawn(&spec).await.unwrap()).await
    }

    pub(crate) fn hostile_profile(&self, trust: TrustLevel) -> ConfinementProfile {
        self.decide(trust, &[], &self.path("program/hostile-server").display().to_string(), &[])
    }

    /// Makes an attempt in a process that nothing confines.
    pub(crate) fn free(&self, attempt: &str) -> String {
        // Opened without the flag that closes it: what a careless library does.
        let flags = rustix::fs::OFlags::RDONLY;
        let _leaked = rustix::fs::open(self.path("leaked"), flags, rustix::fs::Mode::empty()).unwrap();
        let mut command = Command::new(self.path("program/hostile-server"));
        command.args([attempt, &self.aims()]).current_dir(self.path("work")).process_group(0);
        command.env("TMPDIR", self.path("free-tmp")).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let group = rustix::process::Pid::from_raw(i32::try_from(process.id()).unwrap()).unwrap();
        let mut text = String::new();
        // Its children hold the same stream open: one line is the answer.
        let mut stream = io::BufReader::new(process.stdout.take().unwrap());
        let _line = io::BufRead::read_line(&mut stream, &mut text);
        let _gone = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        process.wait().unwrap();
        text
    }

    pub(crate) fn victim_lives(&mut self) -> bool {
        self.victim.try_wait().unwrap().is_none()
    }

    /// Whether anything arrived on one of the sockets.
    pub(crate) fn reached(&self) -> bool {
        let mut buffer = [0; 16];
        let unix = [&self.unix, &self.hidden].iter().any(|listener| listener.accept().is_ok());
        self.tcp.accept().is_ok()
            || self.udp.recv(&mut buffer).is_ok()
            || self.datagrams.recv(&mut buffer).is_ok()
            || unix
    }

    pub(crate) fn is_untouched(&self, name: &str) -> bool {
        let path = self.path(name);
        let mode = fs::metadata(&path).map(|metadata| metadata.permissions().mode() & 0o777);
        let recent = fs::metadata(&path).and_then(|metadata| metadata.modified()).ok();
        let recent = recent.is_some_and(|time| time.elapsed().is_ok_and(|age| age < Duration::from_secs(3600)));
        recent && mode.ok() == Some(0o600) && fs::read_to_string(path).is_ok_and(|text| text == TOKEN)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        Path::new(&self.path(name)).symlink_metadata().is_ok()
    }

    pub(crate) fn program_is_replaced(&self) -> bool {
        let mut start = [0; 4];
        fs::File::open(self.path("program/hostile-server")).and_then(|mut file| file.read_exact(&mut start)).is_err()
            || start != *b"\x7fELF"
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        if let Some(stdin) = &mut self.victim.stdin {
            let _gone = stdin.write_all(b"\n");
        }
        let _gone = self.victim.kill();
        let _reaped = self.victim.wait();
    }
}

/// How a confined process ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) cause: ExitCause,
}

impl Ran {
    pub(crate) async fn of(mut child: Child) -> Self {
        let mut stdout = child.stdout.take().unwrap();
        let tail = child.stderr_tail();
        let mut text = Vec::new();
        let mut buffer = [0; 4096];
        let read = async {
            // A line is the answer; without one the process has ended.
            while let Ok(length @ 1..) = stdout.read(&mut buffer).await {
                text.extend_from_slice(&buffer[..length]);
                if text.contains(&b'\n') {
                    break;
                }
            }
        };
        let in_time = tokio::time::timeout(Duration::from_secs(30), read).await.is_ok();
        assert!(in_time, "it neither answered nor ended: {}", tail.text());
        let ended = tokio::time::timeout(Duration::from_secs(10), child.wait()).await;
        assert!(ended.is_ok(), "it did not end after its answer: {}", String::from_utf8_lossy(&text));
        // Its last words are read by a task of their own.
        tokio::time::sleep(Duration::from_millis(20)).await;
        let cause = child.exit_cause().unwrap();
        Self { stdout: String::from_utf8_lossy(&text).into_owned(), stderr: tail.text(), cause }
    }
}

/// Starts what is expected not to start.
pub(crate) async fn refusal(spec: &CommandSpec) -> SpawnError {
    Child::spawn(spec).await.map(drop).unwrap_err()
}
