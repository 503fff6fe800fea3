//! A PostgreSQL server of one test: own directory, own socket, no port, gone with the test.

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tokio_postgres::NoTls;

pub(crate) struct Server {
    binaries: PathBuf,
    directory: tempfile::TempDir,
    user: Option<(u32, u32)>,
    process: Option<Child>,
    /// Where it listens beside its socket, if it does.
    port: Option<u16>,
    encrypted: bool,
}

impl Server {
    pub(crate) fn start() -> Self {
        Self::start_on(None, None)
    }

    /// One that listens on the loopback interface as well, with a certificate and its key if it has one.
    pub(crate) fn start_on(port: Option<u16>, certificate: Option<(&str, &str)>) -> Self {
        let directory = tempfile::Builder::new().prefix("pg").tempdir().unwrap();
        let user = unprivileged();
        if let Some((user, group)) = user {
            chown(directory.path(), Some(user), Some(group)).unwrap();
        }
        let encrypted = certificate.is_some();
        let mut server = Self { binaries: binaries(), directory, user, process: None, port, encrypted };
        let output = server
            .command("initdb")
            .args(["--auth=trust", "--username=postgres", "--encoding=UTF8", "--no-locale", "--no-sync", "-D"])
            .arg(server.data())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        if let Some((certificate, key)) = certificate {
            for (name, text) in [("server.crt", certificate), ("server.key", key)] {
                let path = server.data().join(name);
                std::fs::write(&path, text).unwrap();
                std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
                if let Some((user, group)) = user {
                    chown(&path, Some(user), Some(group)).unwrap();
                }
            }
        }
        server.start_again();
        server
    }

    pub(crate) fn start_again(&mut self) {
        let mut process = self
            .command("postgres")
            .arg("-D")
            .arg(self.data())
            .arg("-k")
            .arg(self.directory.path())
            .arg("-c")
            .arg(if self.port.is_some() { "listen_addresses=127.0.0.1" } else { "listen_addresses=" })
            .args(["-p", &self.port.unwrap_or(5432).to_string()])
            .args(["-c", if self.encrypted { "ssl=on" } else { "ssl=off" }])
            .args(["-c", "max_connections=60", "-c", "shared_buffers=16MB", "-c", "fsync=off"])
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let mut said = String::new();
        loop {
            let Some(Ok(line)) = lines.next() else { panic!("PostgreSQL did not start: {said}") };
            if line.contains("ready to accept connections") {
                break;
            }
            said.push_str(&line);
        }
        // Keeps the pipe from filling up; ends with the server.
        std::thread::spawn(move || lines.for_each(drop));
        self.process = Some(process);
    }

    /// Stops at once, without waiting for clients.
    pub(crate) fn stop(&mut self) {
        if let Some(mut process) = self.process.take() {
            let pid = rustix::process::Pid::from_child(&process);
            rustix::process::kill_process(pid, rustix::process::Signal::QUIT).unwrap();
            process.wait().unwrap();
        }
    }

    /// Makes a database and returns its URL.
    pub(crate) async fn create_database(&self, name: &str) -> String {
        self.execute("postgres", &format!("CREATE DATABASE {name}")).await;
        self.url(name)
    }

    pub(crate) async fn execute(&self, database: &str, sql: &str) {
        execute(&self.url(database), sql).await;
    }

    /// The directory of the socket.
    pub(crate) fn place(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn url(&self, database: &str) -> String {
        let url = url(self.place(), database);
        let (host, _) = url.rsplit_once('/').unwrap();
        self.port.map_or_else(|| url.clone(), |port| format!("{host}:{port}/{database}"))
    }

    fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    fn command(&self, name: &str) -> Command {
        let mut command = Command::new(self.binaries.join(name));
        // The server refuses to run as the superuser.
        if let Some((user, group)) = self.user {
            command.uid(user).gid(group);
        }
        command.current_dir("/").env("LC_ALL", "C").stdin(Stdio::null()).stdout(Stdio::null());
        command
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The URL of a database behind the socket in a directory.
pub(crate) fn url(place: &Path, database: &str) -> String {
    let host = place.to_str().unwrap().replace('/', "%2F");
    format!("postgres://postgres@{host}/{database}")
}

/// Runs SQL on a connection of its own.
pub(crate) async fn execute(url: &str, sql: &str) {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    let connection = tokio::spawn(connection);
    client.batch_execute(sql).await.unwrap();
    drop(client);
    connection.await.unwrap().unwrap();
}

fn binaries() -> PathBuf {
    let mut of_debian: Vec<_> = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten()
        .map(|version| version.path().join("bin"))
        .filter(|bin| bin.join("initdb").exists())
        .collect();
    of_debian.sort_unstable();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let of_path = std::env::split_paths(&path).find(|bin| bin.join("initdb").exists());
    of_debian.pop().or(of_path).expect("initdb was there when the tests were built")
}

/// For the superuser: the ids of another user, from the list that every machine has.
fn unprivileged() -> Option<(u32, u32)> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let users = std::fs::read_to_string(Path::new("/etc/passwd")).unwrap();
    let find = |name: &str| {
        let line = users.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut ids = line.split(':').skip(2).take(2).map(|id| id.parse().unwrap());
        Some((ids.next()?, ids.next()?))
    };
    Some(find("postgres").or_else(|| find("nobody")).expect("a user that is not the superuser"))
}
