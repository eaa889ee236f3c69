//! Tests of the fallback to the next engine, with its reason, when a seccomp filter refuses calls,
//! as in containers.

use assay_model::engine_reason::EngineReason;

use super::*;

/// Makes the kernel refuse these system calls with `error`, for the calling thread and those it starts.
fn refuse_calls(calls: &[libc::c_long], error: i32) {
    let statement =
        |code: u32, k: u32, jf: u8| libc::sock_filter { code: code as u16, jt: 0, jf, k };
    // The number of the call is the first word of `seccomp_data`.
    let mut program = vec![statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0)];
    for &call in calls {
        program.push(statement(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, call as u32, 1));
        program.push(statement(
            libc::BPF_RET | libc::BPF_K,
            SECCOMP_RET_ERRNO | error as u32,
            0,
        ));
    }
    program.push(statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW, 0));
    let filter = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    // SAFETY: the call takes numbers only.
    assert_eq!(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }, 0);
    // SAFETY: `filter` refers to `program`, which the call copies.
    let result = unsafe {
        libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const filter)
    };
    assert_eq!(result, 0, "{}", std::io::Error::last_os_error());
}

const SECCOMP_RET_ERRNO: u32 = libc::SECCOMP_RET_ERRNO;

fn check(calls: &[libc::c_long], error: i32, engine: &str, answer: &str) {
    let folder = Folder::new();
    let mut phase = workload(
        vec![target(&folder.file("f"), MIB)],
        stream(AccessPattern::Random, 4096, 0.5),
        Some(0.1),
    );
    phase.targets[0].direct = true;
    lay_out(&phase.targets[0], Verify::Off);
    // The filter lasts as long as its thread.
    let result = std::thread::scope(|scope| {
        let phase = &phase;
        let refused = scope.spawn(move || {
            refuse_calls(calls, error);
            run(phase)
        });
        refused.join().unwrap()
    });
    let outcome = match result {
        Err(StorageError::Direct { .. }) => {
            eprintln!("SKIPPED a_refused_engine_is_replaced: no O_DIRECT in temporary files");
            return;
        }
        other => other.unwrap(),
    };
    assert!(outcome.engine.starts_with(engine), "{}", outcome.engine);
    let EngineReason::Refused { io_uring, libaio } = &outcome.engine_reason else {
        panic!("{:?}", outcome.engine_reason)
    };
    assert!(io_uring.contains(answer), "{io_uring}");
    assert_eq!(libaio.is_some(), engine == "threads");
    assert!(count(&outcome) > 0);
    assert_eq!(outcome.error_count, 0);
}

#[test]
fn a_refused_engine_is_replaced() {
    let uring = libc::SYS_io_uring_setup;
    for (calls, error, engine, answer) in [
        (&[uring][..], libc::EPERM, "libaio", "Operation not permitted"),
        (&[uring], libc::ENOSYS, "libaio", "Function not implemented"),
        (&[libc::SYS_io_uring_enter], libc::EPERM, "libaio", "Operation not permitted"),
        (&[uring, libc::SYS_io_setup], libc::EPERM, "threads", "Operation not permitted"),
    ] {
        check(calls, error, engine, answer);
    }
}

#[test]
fn requested_engine_is_not_replaced() {
    let folder = Folder::new();
    let mut phase = workload(
        vec![target(&folder.file("f"), MIB)],
        stream(AccessPattern::Random, 4096, 1.0),
        Some(0.1),
    );
    lay_out(&phase.targets[0], Verify::Off);
    phase.engine = EngineChoice::IoUring;
    let error = std::thread::scope(|scope| {
        let phase = &phase;
        let refused = scope.spawn(move || {
            refuse_calls(&[libc::SYS_io_uring_setup], libc::EPERM);
            run(phase).expect_err("the kernel refuses it")
        });
        refused.join().unwrap()
    });
    assert_eq!(error.to_string(), "the engine io_uring cannot be set up");
}

/// Flags and registrations are omitted one by one, and the ring works without them.
#[test]
fn a_ring_without_registrations_does_the_same() {
    let folder = Folder::new();
    let mut phase = workload(
        vec![target(&folder.file("f"), MIB)],
        stream(AccessPattern::Random, 4096, 0.5),
        Some(0.1),
    );
    lay_out(&phase.targets[0], Verify::Off);
    phase.engine = EngineChoice::IoUring;
    phase.data.verify = Verify::OnRead;
    let result = std::thread::scope(|scope| {
        let phase = &phase;
        let refused = scope.spawn(move || {
            refuse_calls(&[libc::SYS_io_uring_register], libc::EINVAL);
            run(phase)
        });
        refused.join().unwrap()
    });
    let outcome = match result {
        Err(StorageError::Engine { .. }) => {
            eprintln!("SKIPPED a_ring_without_registrations_does_the_same: no io_uring here");
            return;
        }
        other => other.unwrap(),
    };
    assert!(!outcome.engine.contains("fixed"), "{}", outcome.engine);
    assert_eq!(outcome.error_count, 0, "{:?}", outcome.errors.first());
    assert!(count(&outcome) > 0);
}
