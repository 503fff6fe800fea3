//! The filter on system calls: what Landlock does not see.
//!
//! Three filters are stacked, and the strictest answer counts. The first lets through only numbers that are known
//! here, so that calls of later systems and of other calling conventions do not exist. The second makes calls fail that
//! programs try and can do without. The third is for calls that only an attack makes.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Width, SeccompCmpOp as Op, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

use super::profile::{ConfinementProfile, NetworkAccess, Violation};

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// The last call that was looked at when this was written (`mseal`).
const LAST_KNOWN: i64 = 462;

/// No server has a reason to make these, and each is a way out or a way to harm the machine.
const ATTACKS: &[i64] = &[
    libc::SYS_acct,
    libc::SYS_bpf,
    libc::SYS_chroot,
    libc::SYS_clock_settime,
    libc::SYS_delete_module,
    libc::SYS_finit_module,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_init_module,
    libc::SYS_kexec_file_load,
    libc::SYS_kexec_load,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_pidfd_getfd,
    libc::SYS_pivot_root,
    libc::SYS_process_madvise,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_quotactl,
    SYS_QUOTACTL_FD,
    libc::SYS_reboot,
    libc::SYS_setdomainname,
    libc::SYS_sethostname,
    libc::SYS_setns,
    libc::SYS_settimeofday,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_umount2,
    libc::SYS_userfaultfd,
    libc::SYS_vhangup,
];

#[cfg(target_arch = "x86_64")]
const ATTACKS_HERE: &[i64] = &[libc::SYS_ioperm, libc::SYS_iopl, libc::SYS_modify_ldt];
#[cfg(not(target_arch = "x86_64"))]
const ATTACKS_HERE: &[i64] = &[];

/// Programs and their libraries try these and go on without them.
const REFUSED: &[i64] = &[
    libc::SYS_add_key,
    libc::SYS_adjtimex,
    libc::SYS_clock_adjtime,
    libc::SYS_fanotify_init,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    libc::SYS_kcmp,
    libc::SYS_keyctl,
    libc::SYS_lookup_dcookie,
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
    libc::SYS_name_to_handle_at,
    libc::SYS_perf_event_open,
    libc::SYS_pidfd_send_signal,
    libc::SYS_process_mrelease,
    libc::SYS_request_key,
    libc::SYS_syslog,
    libc::SYS_unshare,
    // Memory that is shared between processes has no bound.
    libc::SYS_mq_open,
    libc::SYS_msgget,
    libc::SYS_semget,
    libc::SYS_shmat,
    libc::SYS_shmget,
];

/// Ways to change what Landlock does not guard. Package managers need them, behind mounts that are read-only; a server
/// that is not trusted does not get them.
const REFUSED_TO_STRICT: &[i64] = &[
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    SYS_FCHMODAT2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_fremovexattr,
    libc::SYS_fsetxattr,
    libc::SYS_inotify_add_watch,
    libc::SYS_io_setup,
    libc::SYS_lremovexattr,
    libc::SYS_lsetxattr,
    libc::SYS_removexattr,
    libc::SYS_setxattr,
    libc::SYS_utimensat,
];

const SYS_QUOTACTL_FD: i64 = 443;
const SYS_FCHMODAT2: i64 = 452;
const SYS_MAP_SHADOW_STACK: i64 = 453;

#[cfg(target_arch = "x86_64")]
const REFUSED_TO_STRICT_HERE: &[i64] =
    &[libc::SYS_chmod, libc::SYS_chown, libc::SYS_futimesat, libc::SYS_lchown, libc::SYS_utime, libc::SYS_utimes];
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_TO_STRICT_HERE: &[i64] = &[];

#[cfg(target_arch = "x86_64")]
const FORKS: &[i64] = &[libc::SYS_fork, libc::SYS_vfork];
#[cfg(not(target_arch = "x86_64"))]
const FORKS: &[i64] = &[];

/// Applies all filters. Nothing may be left to do afterwards but to start the program.
pub(super) fn apply(profile: &ConfinementProfile) -> Result<(), seccompiler::Error> {
    for program in programs(profile, std::process::id())? {
        seccompiler::apply_filter(&program)?;
    }
    Ok(())
}

/// All filters for the process of this number, the first to be applied first. The number stays when the program starts.
fn programs(profile: &ConfinementProfile, pid: u32) -> Result<Vec<BpfProgram>, seccompiler::Error> {
    let (allow, refuse) = (SeccompAction::Allow, |errno: i32| SeccompAction::Errno(errno.unsigned_abs()));
    let on_attack = match profile.violation {
        Violation::Kill => SeccompAction::KillProcess,
        Violation::Refuse => refuse(libc::EPERM),
    };
    let attacks: Rules = ATTACKS.iter().chain(ATTACKS_HERE).map(|call| (*call, Vec::new())).collect();
    let known: Rules = (0..=LAST_KNOWN)
        // The C libraries fall back to the older form, whose flags can be seen.
        .filter(|call| *call != libc::SYS_clone3)
        .map(|call| (call, Vec::new()))
        .collect();
    let arch: TargetArch = std::env::consts::ARCH.try_into()?;
    let compile = |rules: Rules, otherwise, then| -> Result<BpfProgram, seccompiler::Error> {
        Ok(SeccompFilter::new(rules, otherwise, then, arch)?.try_into()?)
    };
    Ok(vec![
        compile(known, refuse(libc::ENOSYS), allow.clone())?,
        compile(refused(profile, u64::from(pid))?, allow.clone(), refuse(libc::EPERM))?,
        compile(sockets(profile)?, allow.clone(), refuse(libc::EACCES))?,
        compile(attacks, allow, on_attack)?,
    ])
}

fn refused(profile: &ConfinementProfile, pid: u64) -> Result<Rules, seccompiler::Error> {
    let mut rules: Rules = REFUSED.iter().map(|call| (*call, Vec::new())).collect();
    if profile.violation == Violation::Kill {
        rules.extend(REFUSED_TO_STRICT.iter().chain(REFUSED_TO_STRICT_HERE).map(|call| (*call, Vec::new())));
    }
    let mut add = |call: i64, chain: Vec<Vec<SeccompCondition>>| -> Result<(), seccompiler::Error> {
        let chain = chain.into_iter().map(SeccompRule::new).collect::<Result<Vec<_>, _>>()?;
        rules.entry(call).or_default().extend(chain);
        Ok(())
    };
    // A terminal takes what is pushed into it for the user's own typing.
    add(libc::SYS_ioctl, vec![vec![is(1, TIOCSTI)?], vec![is(1, TIOCLINUX)?]])?;
    if profile.memory_bytes.is_some() {
        // Memory that the bound does not count.
        add(libc::SYS_mmap, vec![vec![has(3, SHARED_ANONYMOUS)?], vec![has(3, GROWS_DOWN)?]])?;
        add(SYS_MAP_SHADOW_STACK, Vec::new())?;
        add(libc::SYS_memfd_create, Vec::new())?;
        add(libc::SYS_memfd_secret, Vec::new())?;
    }
    // It dies with the kernel, and cannot take that back.
    add(libc::SYS_prctl, vec![vec![is(0, SET_DEATH_SIGNAL)?, not(1, KILL)?]])?;
    // The limits and priorities of others.
    add(libc::SYS_prlimit64, vec![vec![not(0, 0)?, not(0, pid)?]])?;
    for call in
        [libc::SYS_sched_setaffinity, libc::SYS_sched_setattr, libc::SYS_sched_setparam, libc::SYS_sched_setscheduler]
    {
        add(call, vec![vec![not(0, 0)?]])?;
    }
    for call in [libc::SYS_setpriority, libc::SYS_ioprio_set] {
        add(call, vec![vec![not(1, 0)?]])?;
    }
    // New namespaces, inside of which a process has every privilege.
    let mut clones = Vec::new();
    for flag in NAMESPACES {
        clones.push(vec![has(0, *flag)?]);
    }
    if profile.processes == Some(0) {
        clones.push(vec![lacks(0, THREAD)?]);
        for call in FORKS {
            add(*call, Vec::new())?;
        }
    }
    add(libc::SYS_clone, clones)?;
    if profile.processes == Some(0) {
        // Without children it signals itself at most. Older systems have no other bar for signals.
        for call in
            [libc::SYS_kill, libc::SYS_rt_sigqueueinfo, libc::SYS_rt_tgsigqueueinfo, libc::SYS_tgkill, libc::SYS_tkill]
        {
            add(call, vec![vec![not(0, pid)?]])?;
        }
        // The owner of a file is sent signals of the caller's choice when the file becomes readable.
        add(libc::SYS_fcntl, vec![vec![is(1, SET_OWNER)?, not(2, 0)?, not(2, pid)?], vec![is(1, SET_OWNER_EX)?]])?;
        add(libc::SYS_ioctl, vec![vec![is(1, SET_SOCKET_OWNER)?], vec![is(1, SET_SOCKET_GROUP)?]])?;
    }
    Ok(rules)
}

/// Which sockets cannot be made. Pairs of streams and of sequenced packets are connected for good and stay; a pair of
/// datagram sockets can be aimed anew, at any socket with a path (and the system takes a raw one for a datagram one).
fn sockets(profile: &ConfinementProfile) -> Result<Rules, seccompiler::Error> {
    let chain = if profile.network == NetworkAccess::None && profile.violation == Violation::Kill {
        Vec::new()
    } else if profile.network == NetworkAccess::None {
        // Programs list the machine's network devices at their start, and end if they cannot. In a network of their own
        // there is nothing to be seen.
        vec![vec![not(0, NETLINK)?], vec![not(2, NETLINK_ROUTE)?]]
    } else {
        // Sockets with a path lead to services that act for this user, and Landlock does not see them: not given.
        vec![
            vec![not(0, INET)?, not(0, INET6)?, not(0, NETLINK)?],
            vec![not(0, NETLINK)?, kind(RAW)?],
            vec![kind(PACKET)?],
            vec![kind(SEQPACKET)?],
            vec![is(0, NETLINK)?, not(2, NETLINK_ROUTE)?],
        ]
    };
    let mut pairs = vec![vec![not(0, UNIX)?]];
    for refused in (0..=KIND).filter(|kind| ![STREAM, SEQPACKET].contains(kind)) {
        pairs.push(vec![kind(refused)?]);
    }
    let rules = |chain: Vec<Vec<SeccompCondition>>| chain.into_iter().map(SeccompRule::new).collect();
    let rules: [Result<Vec<_>, _>; 2] = [rules(chain), rules(pairs)];
    let [sockets, pairs] = rules;
    Ok(Rules::from([(libc::SYS_socket, sockets?), (libc::SYS_socketpair, pairs?)]))
}

const TIOCSTI: u64 = 0x5412;
const TIOCLINUX: u64 = 0x541c;
/// `F_SETOWN`, `F_SETOWN_EX`, `FIOSETOWN`, `SIOCSPGRP`.
const SET_OWNER: u64 = 8;
const SET_OWNER_EX: u64 = 15;
const SET_SOCKET_OWNER: u64 = 0x8901;
const SET_SOCKET_GROUP: u64 = 0x8902;
const SHARED_ANONYMOUS: u64 = 0x21;
/// Counted as a stack, so not counted at all.
const GROWS_DOWN: u64 = 0x100;
const SET_DEATH_SIGNAL: u64 = 1;
const KILL: u64 = 9;
const THREAD: u64 = 0x0001_0000;
/// Mount, cgroup, uts, ipc, user, pid, network. The one of time shares its bit with a signal number of old.
const NAMESPACES: &[u64] = &[0x0002_0000, 0x0200_0000, 0x0400_0000, 0x0800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000];
const UNIX: u64 = 1;
const INET: u64 = 2;
const INET6: u64 = 10;
const NETLINK: u64 = 16;
const NETLINK_ROUTE: u64 = 0;
const STREAM: u64 = 1;
const RAW: u64 = 3;
const SEQPACKET: u64 = 5;
const PACKET: u64 = 10;
/// The part of a socket's type that is no flag.
const KIND: u64 = 0xf;

type Condition = Result<SeccompCondition, seccompiler::Error>;

/// These arguments are 32 bits wide for the kernel, whatever a caller puts above them.
fn is(argument: u8, value: u64) -> Condition {
    Ok(SeccompCondition::new(argument, Width::Dword, Op::Eq, value)?)
}

fn not(argument: u8, value: u64) -> Condition {
    Ok(SeccompCondition::new(argument, Width::Dword, Op::Ne, value)?)
}

fn has(argument: u8, bits: u64) -> Condition {
    Ok(SeccompCondition::new(argument, Width::Dword, Op::MaskedEq(bits), bits)?)
}

fn lacks(argument: u8, bits: u64) -> Condition {
    Ok(SeccompCondition::new(argument, Width::Dword, Op::MaskedEq(bits), 0)?)
}

fn kind(value: u64) -> Condition {
    Ok(SeccompCondition::new(1, Width::Dword, Op::MaskedEq(KIND), value)?)
}
