//! Every attempt to get out, who sees whether it succeeded, and whether it does where nothing confines.

use switchboard_protocol::mgp::TrustLevel;
use switchboard_transport::confine::{self, ExitCause};

use crate::scene::{Scene, TOKEN};

/// Who sees that an attempt succeeded.
#[derive(Clone, Copy)]
pub(crate) enum Witness {
    /// The secret was printed.
    Secret,
    /// The program says that the system let it do it: there is nothing else to see.
    Itself,
    /// It got more than this of something.
    More(usize),
    /// Somebody outside.
    Outside(fn(&mut Scene) -> bool),
}

/// Whether an attempt works for a process that nothing confines, on any machine.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Alone {
    Works,
    WorksForRoot,
    /// Depends on the machine, or would do harm.
    Unknown,
}

use Alone::{Unknown, Works, WorksForRoot};
use Witness::{Itself, More, Outside, Secret};

const CHANGED: Witness = Outside(|scene| !scene.is_untouched("outside/file"));
const KILLED: Witness = Outside(|scene| {
    std::thread::sleep(std::time::Duration::from_millis(20));
    !scene.victim_lives()
});
const REACHED: Witness = Outside(|scene| {
    std::thread::sleep(std::time::Duration::from_millis(20));
    scene.reached()
});

pub(crate) const ATTEMPTS: &[(&str, Witness, Alone)] = &[
    ("read_ssh_key", Secret, Works),
    ("read_home_file", Secret, Works),
    ("read_shadow", Itself, WorksForRoot),
    ("read_data_folder", Secret, Works),
    ("list_home", Itself, Works),
    ("read_by_dotdot", Secret, Works),
    ("read_by_symlink", Secret, Works),
    ("read_by_hard_link", Secret, Works),
    ("read_by_rename", Secret, Works),
    ("read_by_own_root", Secret, Works),
    ("read_by_parents_root", Secret, Works),
    ("read_by_victims_cwd", Secret, Works),
    ("read_victims_environment", Secret, Works),
    ("read_victims_command_line", Secret, Works),
    ("read_inherited_files", Itself, Works),
    ("read_by_handle", Secret, WorksForRoot),
    ("write_outside", Outside(|scene| scene.has("outside/made")), Works),
    ("write_data_folder", Outside(|scene| scene.has("data/made")), Works),
    ("append_outside", CHANGED, Works),
    ("replace_own_program", Outside(|scene| scene.program_is_replaced()), Works),
    ("delete_outside", CHANGED, Works),
    ("rename_outside", CHANGED, Works),
    ("truncate_outside", CHANGED, Works),
    ("truncate_by_reading", CHANGED, Works),
    ("chmod_outside", CHANGED, Works),
    ("change_times_outside", CHANGED, Works),
    ("make_device", Outside(|scene| scene.has("outside/device")), WorksForRoot),
    ("kill_victim", KILLED, Works),
    ("kill_victim_by_thread", KILLED, Works),
    ("kill_victim_by_handle", KILLED, Works),
    ("kill_victim_by_owned_pipe", Itself, Works),
    ("kill_victim_by_owned_pipe_ex", Itself, Works),
    ("outlive_parent", Itself, Works),
    ("signal_parent", Itself, Works),
    ("trace_victim", Itself, Unknown),
    ("open_victims_memory", Itself, Unknown),
    ("read_victims_memory", Itself, Unknown),
    ("take_victims_file", Itself, Unknown),
    ("limit_victim", Itself, Works),
    ("slow_victim", Itself, Works),
    ("join_victims_namespace", Itself, WorksForRoot),
    ("mount", Itself, WorksForRoot),
    ("unshare_user", Itself, Unknown),
    ("unshare_mounts", Itself, WorksForRoot),
    ("clone_into_namespace", Itself, Unknown),
    ("clone3_into_namespace", Itself, Unknown),
    ("chroot", Itself, WorksForRoot),
    ("capabilities", Itself, WorksForRoot),
    ("regain_capabilities", Itself, WorksForRoot),
    ("run_program_outside", Itself, Works),
    ("run_from_memory", Itself, Works),
    ("run_what_was_written", Itself, Works),
    ("preload_into_child", Itself, Works),
    ("tcp_connect", REACHED, Works),
    ("udp_send", REACHED, Works),
    ("unix_connect", REACHED, Works),
    ("abstract_connect", REACHED, Works),
    ("datagram_pair_send", REACHED, Works),
    ("datagram_pair_connect", REACHED, Works),
    ("raw_pair_send", REACHED, Works),
    ("datagram_pair_with_flags_sendmsg", REACHED, Works),
    ("stream_pair_send", REACHED, Unknown),
    ("seqpacket_pair_connect", REACHED, Unknown),
    ("listen", Itself, Works),
    ("raw_socket", Itself, WorksForRoot),
    ("packet_socket", Itself, WorksForRoot),
    ("netlink_socket", Itself, Works),
    ("vsock_socket", Itself, Unknown),
    ("alg_socket", Itself, Unknown),
    ("push_into_terminal", Itself, Unknown),
    ("io_uring", Itself, Unknown),
    ("bpf", Itself, Unknown),
    ("userfaultfd", Itself, Unknown),
    ("perf_event_open", Itself, Unknown),
    ("add_key", Itself, Unknown),
    ("other_calling_convention", Itself, Unknown),
    ("fork_bomb", More(0), Works),
    ("threads", More(200), Unknown),
    ("memory", More(128), Works),
    ("shared_memory", Itself, Works),
    ("memory_that_grows_down", Itself, Works),
    ("memory_file", Itself, Works),
    ("zero_device_memory", Itself, Works),
    ("shared_segment", Itself, Unknown),
    ("fill_temporary_folder", Itself, Works),
    ("open_files", More(256), Unknown),
];

/// Those that are judged by tests of their own, or are part of others.
pub(crate) const ELSEWHERE: &[&str] = &["was-run", "processor_time"];

pub(crate) fn escaped(scene: &mut Scene, witness: Witness, said: &str) -> bool {
    match witness {
        Secret => said.contains(TOKEN),
        Itself => said.contains("\"got\""),
        Outside(seen) => seen(scene),
        More(most) => {
            let got = said.split("\"got\":\"").nth(1).and_then(|rest| rest.split('"').next());
            got.and_then(|number| number.parse::<usize>().ok()).is_some_and(|number| number > most)
        }
    }
}

/// Makes all attempts at this level. Returns the names of those that were killed for it.
pub(crate) async fn attempt_all(trust: TrustLevel) -> Vec<&'static str> {
    let report = confine::ability().await.unwrap();
    let tasks_bound = report
        .abilities
        .iter()
        .all(|one| !["process bound", "namespaces"].contains(&one.name.as_str()) || one.missing.is_none());
    let mut got_out = Vec::new();
    let mut killed = Vec::new();
    for (name, witness, _) in ATTEMPTS {
        let witness = match (trust, *name) {
            // What a standard server may do is no escape.
            (TrustLevel::Standard, "run_what_was_written" | "preload_into_child") => continue,
            // Its own children may own a pipe. Landlock keeps the signal from others.
            (TrustLevel::Standard, "kill_victim_by_owned_pipe" | "kill_victim_by_owned_pipe_ex") => KILLED,
            (TrustLevel::Standard, "fork_bomb" | "threads") => More(192),
            (TrustLevel::Standard, "memory") => More(512),
            (TrustLevel::Standard, "open_files") => More(4096),
            // Without them nobody counts threads apart from all others of the user: memory bounds them.
            (_, "threads") if !tasks_bound => continue,
            _ => *witness,
        };
        let mut scene = Scene::new();
        let profile = scene.hostile_profile(trust);
        let ran = scene.confined(name, profile).await;
        if escaped(&mut scene, witness, &ran.stdout) {
            got_out.push(format!("{name}: {ran:?}"));
        }
        match ran.cause {
            ExitCause::Forbidden => killed.push(*name),
            // Either it was killed for the attempt or it must have lived to tell.
            _ => assert!(ran.stdout.contains("\"held\"") || ran.stdout.contains("\"got\""), "{name}: {ran:?}"),
        }
    }
    assert!(got_out.is_empty(), "{got_out:#?}");
    killed
}
