//! The attempts. Each is real: it makes the calls that the attack would make.

use std::ffi::CString;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixStream};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Aims;
use super::raw::{address, call, place};

type Outcome = Result<String, String>;
type Attempt = fn(&Aims) -> io::Result<String>;

/// Everything that is tried.
pub const NAMES: &[&str] = &{
    let mut names = [""; TABLE.len()];
    let mut at = 0;
    while at < TABLE.len() {
        names[at] = TABLE[at].0;
        at += 1;
    }
    names
};

const TABLE: &[(&str, Attempt)] = &[
    // Reading what is not its own.
    ("read_ssh_key", |aims| fs::read_to_string(aims.text("ssh_key"))),
    ("read_home_file", |aims| fs::read_to_string(aims.text("home_file"))),
    ("read_shadow", |_| fs::read_to_string("/etc/shadow")),
    ("read_data_folder", |aims| fs::read_to_string(aims.text("data_file"))),
    ("list_home", |aims| list(aims.text("home"))),
    ("read_by_dotdot", by_dotdot),
    ("read_by_symlink", by_symlink),
    ("read_by_hard_link", by_hard_link),
    ("read_by_rename", by_rename),
    ("read_by_own_root", |aims| fs::read_to_string(format!("/proc/self/root{}", aims.text("home_file")))),
    ("read_by_parents_root", |aims| fs::read_to_string(format!("/proc/{}/root{}", parent(), aims.text("home_file")))),
    ("read_by_victims_cwd", |aims| fs::read_to_string(format!("/proc/{}/cwd/id_secret", victim(aims)))),
    ("read_victims_environment", |aims| text(&fs::read(format!("/proc/{}/environ", victim(aims)))?)),
    ("read_victims_command_line", |aims| text(&fs::read(format!("/proc/{}/cmdline", victim(aims)))?)),
    ("read_inherited_files", |_| inherited()),
    ("read_by_handle", by_handle),
    // Changing what is not its own.
    ("write_outside", |aims| write(Path::new(aims.text("outside")).join("made"))),
    ("write_data_folder", |aims| write(Path::new(aims.text("data_file")).with_file_name("made"))),
    ("append_outside", append),
    ("replace_own_program", replace_program),
    ("delete_outside", |aims| fs::remove_file(aims.text("outside_file")).map(done)),
    ("rename_outside", |aims| {
        fs::rename(aims.text("outside_file"), Path::new(aims.text("outside")).join("renamed")).map(done)
    }),
    ("truncate_outside", |aims| {
        let path = c_text(aims.text("outside_file"))?;
        call(libc::SYS_truncate, &[address(path.as_bytes()), 0]).map(done)
    }),
    ("truncate_by_reading", |aims| {
        let path = c_text(aims.text("outside_file"))?;
        let flags = (libc::O_RDONLY | libc::O_TRUNC) as usize;
        call(libc::SYS_openat, &[AT_FDCWD, address(path.as_bytes()), flags]).map(done)
    }),
    ("chmod_outside", |aims| {
        let path = c_text(aims.text("outside_file"))?;
        call(libc::SYS_fchmodat, &[AT_FDCWD, address(path.as_bytes()), 0o777]).map(done)
    }),
    ("change_times_outside", |aims| {
        let (path, times) = (c_text(aims.text("outside_file"))?, [0_u64; 4]);
        call(libc::SYS_utimensat, &[AT_FDCWD, address(path.as_bytes()), address(&times), 0]).map(done)
    }),
    ("make_device", |aims| {
        let path = c_text(&format!("{}/device", aims.text("outside")))?;
        call(libc::SYS_mknodat, &[AT_FDCWD, address(path.as_bytes()), 0o020_666, 0x0101]).map(done)
    }),
    // Other processes.
    ("kill_victim", |aims| call(libc::SYS_kill, &[victim(aims), 9]).map(done)),
    ("kill_victim_by_thread", |aims| call(libc::SYS_tgkill, &[victim(aims), victim(aims), 9]).map(done)),
    ("kill_victim_by_handle", |aims| {
        let handle = call(libc::SYS_pidfd_open, &[victim(aims), 0])?;
        call(libc::SYS_pidfd_send_signal, &[handle, 9, 0, 0]).map(done)
    }),
    ("kill_victim_by_owned_pipe", |aims| owner_signal(8, victim(aims))),
    ("kill_victim_by_owned_pipe_ex", |aims| {
        // The kind of owner, a process, and which.
        let owner = [1, u32::try_from(victim(aims)).unwrap_or_default()];
        owner_signal(15, address(&owner))
    }),
    ("outlive_parent", |_| call(libc::SYS_prctl, &[1, 0]).map(done)),
    ("signal_parent", |_| call(libc::SYS_kill, &[parent(), 0]).map(done)),
    ("trace_victim", |aims| call(libc::SYS_ptrace, &[PTRACE_SEIZE, victim(aims), 0, 0]).map(done)),
    ("open_victims_memory", |aims| fs::File::open(format!("/proc/{}/mem", victim(aims))).map(done)),
    ("read_victims_memory", victims_memory),
    ("take_victims_file", |aims| {
        let handle = call(libc::SYS_pidfd_open, &[victim(aims), 0])?;
        call(libc::SYS_pidfd_getfd, &[handle, 0, 0]).map(done)
    }),
    ("limit_victim", |aims| {
        let none = [16_u64, 16_u64];
        call(libc::SYS_prlimit64, &[victim(aims), libc::RLIMIT_NOFILE as usize, address(&none), 0]).map(done)
    }),
    ("slow_victim", |aims| call(libc::SYS_setpriority, &[0, victim(aims), 19]).map(done)),
    ("join_victims_namespace", |aims| {
        let space = fs::File::open(format!("/proc/{}/ns/mnt", victim(aims)))?;
        call(libc::SYS_setns, &[descriptor(&space), 0]).map(done)
    }),
    // The machine.
    ("mount", |aims| {
        let (kind, at) = (c_text("tmpfs")?, c_text(aims.text("outside"))?);
        call(libc::SYS_mount, &[address(kind.as_bytes()), address(at.as_bytes()), address(kind.as_bytes()), 0, 0])?;
        call(libc::SYS_umount2, &[address(at.as_bytes()), 0]).map(done)
    }),
    ("unshare_user", |_| call(libc::SYS_unshare, &[libc::CLONE_NEWUSER as usize]).map(done)),
    ("unshare_mounts", |_| call(libc::SYS_unshare, &[libc::CLONE_NEWNS as usize]).map(done)),
    ("clone_into_namespace", |_| born(call(libc::SYS_clone, &[(libc::CLONE_NEWUSER | libc::SIGCHLD) as usize]))),
    ("clone3_into_namespace", |_| {
        // flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls
        let order = [libc::CLONE_NEWUSER as u64, 0, 0, 0, libc::SIGCHLD as u64, 0, 0, 0];
        born(call(libc::SYS_clone3, &[address(&order), size_of_val(&order)]))
    }),
    ("chroot", |aims| {
        let at = c_text(aims.text("outside"))?;
        call(libc::SYS_chroot, &[address(at.as_bytes())]).map(done)
    }),
    ("capabilities", |_| capabilities(&fs::read_to_string("/proc/self/status")?)),
    ("regain_capabilities", |aims| {
        Err(Command::new(std::env::current_exe()?).arg("capabilities").arg(aims.0.to_string()).exec())
    }),
    ("run_program_outside", |aims| Err(Command::new(aims.text("outside_program")).arg("was-run").arg("{}").exec())),
    ("was-run", |_| Ok("it runs".to_owned())),
    ("run_from_memory", from_memory),
    ("run_what_was_written", run_written),
    ("preload_into_child", |aims| {
        let child = Command::new("/bin/true").env("LD_PRELOAD", aims.text("outside_program")).status()?;
        Ok(child.to_string())
    }),
    // The network, and other programs on the machine.
    ("tcp_connect", |aims| {
        let mut stream = TcpStream::connect(("127.0.0.1", port(aims, "tcp_port")))?;
        stream.write_all(b"escaped").map(done)
    }),
    ("udp_send", |aims| {
        UdpSocket::bind("127.0.0.1:0")?.send_to(b"escaped", ("127.0.0.1", port(aims, "udp_port"))).map(done)
    }),
    ("unix_connect", |aims| UnixStream::connect(aims.text("unix_path"))?.write_all(b"escaped").map(done)),
    ("abstract_connect", |aims| {
        let name = SocketAddr::from_abstract_name(aims.text("abstract_name"))?;
        UnixStream::connect_addr(&name)?.write_all(b"escaped").map(done)
    }),
    // A pair of datagram sockets can be aimed anew, at any socket with a path.
    ("datagram_pair_send", |aims| UnixDatagram::pair()?.0.send_to(b"escaped", aims.text("datagram_path")).map(done)),
    ("datagram_pair_connect", |aims| {
        let (ours, _theirs) = UnixDatagram::pair()?;
        ours.connect(aims.text("datagram_path"))?;
        ours.send(b"escaped").map(done)
    }),
    ("raw_pair_send", |aims| pair_sends(aims, 3)),
    ("datagram_pair_with_flags_sendmsg", |aims| pair_sends(aims, 2 | 0o2_000_000 | 0o4000)),
    ("stream_pair_send", |aims| pair_sends(aims, 1)),
    ("seqpacket_pair_connect", |aims| pair_connects(aims, 5)),
    ("listen", |_| TcpListener::bind("127.0.0.1:0").map(done)),
    ("raw_socket", |_| call(libc::SYS_socket, &[2, 3, 1]).map(done)),
    ("packet_socket", |_| call(libc::SYS_socket, &[17, 3, 0x0300]).map(done)),
    ("netlink_socket", |_| call(libc::SYS_socket, &[16, 3, 15]).map(done)),
    ("vsock_socket", |_| call(libc::SYS_socket, &[40, 1, 0]).map(done)),
    ("alg_socket", |_| call(libc::SYS_socket, &[38, 5, 0]).map(done)),
    ("push_into_terminal", terminal),
    // Parts of the kernel that were ways out before.
    ("io_uring", |_| {
        let mut parameters = [0_u8; 120];
        call(libc::SYS_io_uring_setup, &[4, place(&mut parameters)]).map(done)
    }),
    ("bpf", |_| {
        // An array with keys and values of four bytes, and one of them.
        let order = [2_u32, 4, 4, 1, 0, 0, 0, 0, 0, 0, 0, 0];
        call(libc::SYS_bpf, &[0, address(&order), size_of_val(&order)]).map(done)
    }),
    ("userfaultfd", |_| call(libc::SYS_userfaultfd, &[0]).map(done)),
    ("perf_event_open", |_| {
        let mut order = [0_u32; 32];
        (order[0], order[1]) = (1, 128);
        call(libc::SYS_perf_event_open, &[address(&order), 0, usize::MAX, usize::MAX, 0]).map(done)
    }),
    ("add_key", |_| {
        let (kind, name) = (c_text("user")?, c_text("switchboard-test")?);
        let ring = usize::MAX - 2;
        call(libc::SYS_add_key, &[address(kind.as_bytes()), address(name.as_bytes()), address(b"x"), 1, ring]).map(done)
    }),
    ("other_calling_convention", |_| call(libc::SYS_getpid | 0x4000_0000, &[]).map(done)),
    // More than its share.
    ("fork_bomb", |aims| Ok(forks(aims.number("processes")).to_string())),
    ("threads", |aims| Ok(threads(aims.number("processes")).to_string())),
    ("memory", |aims| Ok(private_memory(aims.number("megabytes")).to_string())),
    ("shared_memory", |aims| mapped(aims.number("megabytes"), usize::MAX, 0x21)),
    ("memory_that_grows_down", |aims| mapped(aims.number("megabytes"), usize::MAX, 0x122)),
    ("memory_file", |aims| {
        let name = c_text("x")?;
        let file = call(libc::SYS_memfd_create, &[address(name.as_bytes()), 0])?;
        call(libc::SYS_ftruncate, &[file, aims.number("megabytes") << 20])?;
        mapped(aims.number("megabytes"), file, 1)
    }),
    ("zero_device_memory", |aims| {
        let file = fs::File::open("/dev/zero")?;
        mapped_to_read(aims.number("megabytes"), descriptor(&file))
    }),
    ("shared_segment", |aims| {
        let size = aims.number("megabytes") << 20;
        let id = call(libc::SYS_shmget, &[0, size, 0o1600])?;
        call(libc::SYS_shmctl, &[id, 0, 0]).map(done)
    }),
    ("fill_temporary_folder", |aims| fill(&std::env::temp_dir(), aims.number("megabytes"))),
    ("processor_time", |_| burn()),
    ("open_files", |aims| Ok(opened(aims.number("files")).to_string())),
];

pub(super) fn attempt(name: &str, aims: &Aims) -> Outcome {
    let found = TABLE.iter().find(|(known, _)| *known == name);
    let (_, attempt) = found.ok_or_else(|| format!("no attempt is called {name}"))?;
    attempt(aims).map_err(|error| error.to_string())
}

const AT_FDCWD: usize = usize::MAX - 99;
const PTRACE_SEIZE: usize = 0x4206;

fn done<T>(_: T) -> String {
    "done".to_owned()
}

fn parent() -> usize {
    std::os::unix::process::parent_id() as usize
}

fn victim(aims: &Aims) -> usize {
    aims.number("victim")
}

fn port(aims: &Aims, name: &str) -> u16 {
    u16::try_from(aims.number(name)).unwrap_or_default()
}

fn descriptor(file: &impl std::os::fd::AsRawFd) -> usize {
    usize::try_from(file.as_raw_fd()).unwrap_or(usize::MAX)
}

/// With its final zero, so that the bytes can be given to a call.
fn c_text(text: &str) -> io::Result<ZeroEnded> {
    Ok(ZeroEnded(CString::new(text)?))
}

struct ZeroEnded(CString);

impl ZeroEnded {
    fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes_with_nul()
    }
}

fn text(bytes: &[u8]) -> io::Result<String> {
    // The system gives nothing instead of an error for some files of a process that may not be looked at.
    if bytes.is_empty() {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(String::from_utf8_lossy(bytes).into_owned())
}

fn list(folder: &str) -> io::Result<String> {
    let names: io::Result<Vec<String>> =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect();
    Ok(names?.join(" "))
}

/// Lets the system send a signal for us, to the owner of a pipe that becomes readable.
fn owner_signal(set_owner: usize, owner: usize) -> io::Result<String> {
    const F_SETFL: usize = 4;
    const F_SETSIG: usize = 10;
    const NONBLOCK_AND_ASYNC: usize = 0o24000;
    let mut ends = [0_u32; 2];
    call(libc::SYS_pipe2, &[place(&mut ends), 0])?;
    let (reader, writer) = (ends[0] as usize, ends[1] as usize);
    call(libc::SYS_fcntl, &[reader, set_owner, owner])?;
    call(libc::SYS_fcntl, &[reader, F_SETSIG, 9])?;
    call(libc::SYS_fcntl, &[reader, F_SETFL, NONBLOCK_AND_ASYNC])?;
    call(libc::SYS_write, &[writer, address(b"x"), 1]).map(done)
}

/// A pair of sockets of this kind, and the bytes of the address that one of them is to be aimed at.
fn aimed_pair(aims: &Aims, kind: usize) -> io::Result<(usize, Vec<u8>)> {
    let mut pair = [0_u32; 2];
    call(libc::SYS_socketpair, &[1, kind, 0, place(&mut pair)])?;
    let mut aim = 1_u16.to_ne_bytes().to_vec();
    aim.extend_from_slice(c_text(aims.text("datagram_path"))?.as_bytes());
    Ok((pair[0] as usize, aim))
}

fn pair_sends(aims: &Aims, kind: usize) -> io::Result<String> {
    let (socket, aim) = aimed_pair(aims, kind)?;
    let text = [address(b"escaped"), 7];
    let message = [address(&aim[..]), aim.len(), address(&text), 1, 0, 0, 0];
    call(libc::SYS_sendmsg, &[socket, address(&message), 0]).map(done)
}

fn pair_connects(aims: &Aims, kind: usize) -> io::Result<String> {
    let (socket, aim) = aimed_pair(aims, kind)?;
    call(libc::SYS_connect, &[socket, address(&aim[..]), aim.len()])?;
    call(libc::SYS_sendto, &[socket, address(b"escaped"), 7]).map(done)
}

fn write(path: PathBuf) -> io::Result<String> {
    fs::write(path, "escaped").map(done)
}

fn append(aims: &Aims) -> io::Result<String> {
    fs::OpenOptions::new().append(true).open(aims.text("outside_file"))?.write_all(b"escaped").map(done)
}

fn replace_program(_: &Aims) -> io::Result<String> {
    let own = std::env::current_exe()?;
    fs::remove_file(&own)?;
    fs::write(own, "escaped").map(done)
}

/// A way up from wherever this runs.
fn by_dotdot(aims: &Aims) -> io::Result<String> {
    let mut path = std::env::current_dir()?;
    for _ in 0..path.components().count() {
        path.push("..");
    }
    fs::read_to_string(path.join(aims.text("home_file").trim_start_matches('/')))
}

fn by_symlink(aims: &Aims) -> io::Result<String> {
    let link = std::env::temp_dir().join("link");
    std::os::unix::fs::symlink(aims.text("home_file"), &link)?;
    fs::read_to_string(link)
}

fn by_hard_link(aims: &Aims) -> io::Result<String> {
    // Beside its temporary files, which may be on another device.
    let link = Path::new(aims.text("outside")).join("hard");
    fs::hard_link(aims.text("home_file"), &link)?;
    fs::read_to_string(link)
}

fn by_rename(aims: &Aims) -> io::Result<String> {
    let moved = Path::new(aims.text("outside")).join("moved");
    fs::rename(aims.text("outside_file"), &moved)?;
    fs::read_to_string(moved)
}

fn by_handle(aims: &Aims) -> io::Result<String> {
    let path = c_text(aims.text("home_file"))?;
    let mut handle = [0_u8; 136];
    handle[0] = 128;
    let mut mount = [0_u32; 1];
    let (name, into) = (address(path.as_bytes()), place(&mut handle));
    call(libc::SYS_name_to_handle_at, &[AT_FDCWD, name, into, place(&mut mount), 0])?;
    let root = fs::File::open("/")?;
    let file = call(libc::SYS_open_by_handle_at, &[descriptor(&root), into, 0])?;
    fs::read_to_string(format!("/proc/self/fd/{file}"))
}

/// The contents of whatever is open besides the three streams.
fn inherited() -> io::Result<String> {
    let mut found = String::new();
    for number in 3..64 {
        let mut buffer = [0_u8; 256];
        if let Ok(length) = call(libc::SYS_pread64, &[number, place(&mut buffer), 256, 0]) {
            found.push_str(&String::from_utf8_lossy(buffer.get(..length).unwrap_or_default()));
        } else if call(libc::SYS_fcntl, &[number, 1]).is_ok() {
            found.push_str("(something open) ");
        }
    }
    if found.is_empty() { Err(io::Error::other("nothing is open")) } else { Ok(found) }
}

fn victims_memory(aims: &Aims) -> io::Result<String> {
    let maps = fs::read_to_string(format!("/proc/{}/maps", victim(aims)))?;
    let start = maps.split('-').next().and_then(|start| usize::from_str_radix(start, 16).ok()).unwrap_or_default();
    let mut buffer = [0_u8; 16];
    let (here, there) = ([place(&mut buffer), 16], [start, 16]);
    call(libc::SYS_process_vm_readv, &[victim(aims), address(&here), 1, address(&there), 1, 0]).map(done)
}

fn capabilities(status: &str) -> io::Result<String> {
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:")).unwrap_or_default().trim();
    if line.bytes().all(|byte| byte == b'0') { Err(io::Error::other("none")) } else { Ok(line.to_owned()) }
}

fn from_memory(_: &Aims) -> io::Result<String> {
    let name = c_text("x")?;
    let file = call(libc::SYS_memfd_create, &[address(name.as_bytes()), 0])?;
    let mut program = fs::File::create(format!("/proc/self/fd/{file}"))?;
    io::copy(&mut fs::File::open("/proc/self/exe")?, &mut program)?;
    drop(program);
    Err(Command::new(format!("/proc/self/fd/{file}")).arg("was-run").arg("{}").exec())
}

fn run_written(_: &Aims) -> io::Result<String> {
    let path = std::env::temp_dir().join(format!("written-{}", std::process::id()));
    fs::copy("/proc/self/exe", &path)?;
    Err(Command::new(path).arg("was-run").arg("{}").exec())
}

fn terminal(_: &Aims) -> io::Result<String> {
    let master = fs::OpenOptions::new().read(true).write(true).open("/dev/ptmx")?;
    let (unlocked, mut number) = ([0_i32], [0_u32]);
    call(libc::SYS_ioctl, &[descriptor(&master), 0x4004_5431, address(&unlocked)])?;
    call(libc::SYS_ioctl, &[descriptor(&master), 0x8004_5430, place(&mut number)])?;
    let slave = fs::OpenOptions::new().read(true).write(true).open(format!("/dev/pts/{}", number[0]))?;
    // Becomes the controlling terminal of this session, if it has none.
    let _own = call(libc::SYS_ioctl, &[descriptor(&slave), 0x540e, 0]);
    call(libc::SYS_ioctl, &[descriptor(&slave), 0x5412, address(b"x")]).map(done)
}

/// What a birth gave: the child ends at once.
fn born(outcome: io::Result<usize>) -> io::Result<String> {
    if outcome? == 0 {
        let _ended = call(libc::SYS_exit_group, &[0]);
    }
    Ok("a process was born".to_owned())
}

/// How many processes could be started, up to `most`. They wait until all are there.
fn forks(most: usize) -> usize {
    let mut born = 0;
    while born < most {
        match call(libc::SYS_clone, &[libc::SIGCHLD as usize]) {
            Ok(0) => loop {
                // Ends with the group, which the test ends.
                let _woken = call(libc::SYS_ppoll, &[]);
            },
            Ok(_) => born += 1,
            Err(_) => break,
        }
    }
    born
}

fn threads(most: usize) -> usize {
    let mut born = 0;
    while born < most {
        let thread = std::thread::Builder::new().stack_size(32 << 10).spawn(std::thread::park);
        match thread {
            Ok(_) => born += 1,
            Err(_) => break,
        }
    }
    born
}

/// Megabytes that were had and written to.
fn private_memory(most: usize) -> usize {
    let mut held: Vec<Vec<u8>> = Vec::new();
    while held.len() < most {
        let mut part = Vec::new();
        if part.try_reserve_exact(1 << 20).is_err() {
            break;
        }
        part.resize(1 << 20, 1);
        held.push(part);
    }
    held.len()
}

fn mapped(megabytes: usize, file: usize, flags: usize) -> io::Result<String> {
    let size = megabytes << 20;
    let at = call(libc::SYS_mmap, &[0, size, 3, flags, file, 0])?;
    // Written by a call that fills memory, so that no pointer has to be followed here.
    let source = fs::File::open("/dev/urandom")?;
    call(libc::SYS_read, &[descriptor(&source), at + size - 4096, 4096]).map(done)
}

fn mapped_to_read(megabytes: usize, file: usize) -> io::Result<String> {
    call(libc::SYS_mmap, &[0, megabytes << 20, 1, 1, file, 0]).map(done)
}

fn fill(folder: &Path, megabytes: usize) -> io::Result<String> {
    let path = folder.join(format!("filler-{}", std::process::id()));
    let mut file = fs::File::create(&path)?;
    let part = vec![1; 1 << 20];
    for _ in 0..megabytes {
        if let Err(error) = file.write_all(&part) {
            let _left = fs::remove_file(path);
            return Err(error);
        }
    }
    fs::remove_file(path).map(done)
}

/// Uses the processor until somebody ends it, whatever signal comes first.
fn burn() -> io::Result<String> {
    // The structure of the call: handler 1 is to ignore, then flags, restorer and mask.
    let ignore = [1_usize, 0, 0, 0];
    call(libc::SYS_rt_sigaction, &[24, address(&ignore), 0, 8])?;
    let started = std::time::Instant::now();
    let mut sum = 0_u64;
    while started.elapsed() < std::time::Duration::from_secs(30) {
        sum = sum.wrapping_mul(31).wrapping_add(7);
        std::hint::black_box(sum);
    }
    Ok("nobody stopped it".to_owned())
}

fn opened(most: usize) -> usize {
    let mut held = Vec::new();
    let mut byte = [0];
    while held.len() < most {
        match fs::File::open("/dev/null") {
            Ok(mut file) => {
                let _empty = file.read(&mut byte);
                held.push(file);
            }
            Err(_) => break,
        }
    }
    held.len()
}
