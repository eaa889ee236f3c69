//! File names that are not UTF-8: Linux allows any bytes, and so does every argument that may name
//! a file.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use crate::program::World;

fn byte_path(world: &World, name: &[u8]) -> PathBuf {
    world.path("").join(OsStr::from_bytes(name))
}

/// Runs the program with arguments of arbitrary bytes and returns its standard output.
#[track_caller]
fn run_bytes(world: &World, words: &[&[u8]]) -> String {
    let mut command = world.command(&[]);
    let output = command.args(words.iter().map(|it| OsStr::from_bytes(it))).output().unwrap();
    let [out, err] = [&output.stdout, &output.stderr].map(|it| String::from_utf8_lossy(it));
    let words = words.iter().map(|it| String::from_utf8_lossy(it)).collect::<Vec<_>>();
    assert_eq!(output.status.code(), Some(0), "{words:?} {out} {err}");
    out.into_owned()
}

/// Runs a line of arguments, where `%` is a byte that is not UTF-8 and `+` is a space within an
/// argument.
#[track_caller]
fn run_line(world: &World, line: &str) -> String {
    let byte = |byte| match byte {
        b'%' => 0xff,
        b'+' => b' ',
        other => other,
    };
    let words = line.split(' ').map(|word| word.bytes().map(byte).collect());
    let words: Vec<Vec<u8>> = words.collect();
    run_bytes(world, &words.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

#[test]
fn accepts_non_utf8_file_names() {
    let world = World::in_memory();
    let suite = "name = \"x\"\n[[measure]]\nbenchmark = \"memory.latency\"\nto = \"4KiB\"\n";
    std::fs::write(byte_path(&world, b"x\xff.toml"), suite).unwrap();
    std::fs::create_dir(byte_path(&world, b"dir\xff")).unwrap();
    for words in [
        "run --dry-run x%.toml",
        "run --budget shortest x%.toml --store dir%/store",
        "report --format html --store dir%/store -o p%.html",
        "storage read --size 1MiB --for 1s --target-on-root --buffered dir%/file%",
    ] {
        run_line(&world, words);
    }
    assert!(byte_path(&world, b"p\xff.html").metadata().unwrap().len() > 1000);
}

/// Job files, the files they name and their output files; the stored run has the same names.
#[test]
fn accepts_non_utf8_names_of_and_in_job_files() {
    let world = World::in_memory();
    let write =
        |name: &[u8], text: &[u8]| std::fs::write(byte_path(&world, name), text).unwrap();
    let folder = world.path("").display().to_string();
    let lun = format!("sd=sd1,lun={folder}lun");
    let vdbench = [
        lun.as_bytes(),
        b"\xff,size=1m\nwd=wd1,sd=sd1,rdpct=0,xfersize=4k\nrd=rd1,wd=wd1,iorate=100,elapsed=2,interval=1\n",
    ];
    write(b"v\xff", &vdbench.concat());
    write(b"j\xff.fio", b"[job]\nfilename=f\xff\nsize=64k\nrw=write\n");
    write(b"s\xff", b"IOR START\napi=POSIX\nblockSize=64k\ntransferSize=64k\nkeepFile=1\nwriteFile=1\nRUN\nIOR STOP\n");
    for words in [
        "vdbench --target-on-root -f v% -o out%",
        "show --as vdbench -o again%",
        "fio --target-on-root j%.fio --output=o%",
        "show --as fio-normal",
        "fio --target-on-root --name=word --filename=w% --size=64k --rw=write",
        "ior --target-on-root -a POSIX -b 64k -t 64k -w -k -o i%",
        "show --as ior",
        "ior --target-on-root -f s% -o k%",
    ] {
        run_line(&world, words);
    }
    for name in ["lun", "out", "again", "f", "o", "w", "i"] {
        let name = [name.as_bytes(), b"\xff"].concat();
        assert!(byte_path(&world, &name).exists(), "{}", String::from_utf8_lossy(&name));
    }
}

#[test]
fn accepts_non_utf8_names_of_gates_limits_and_references() {
    let world = World::in_memory();
    let write =
        |name: &[u8], text: &str| std::fs::write(byte_path(&world, name), text).unwrap();
    write(b"g\xff.toml", "[[gate]]\nmetric = \"memory.stream/triad\"\nat_least = \"1 MB/s\"\n");
    write(b"l\xff.toml", "[[limit]]\nmetric = \"memory.stream/triad\"\nvalue = \"900 GB/s\"\n");
    write(b"p\xff.md", "The node reaches 10 GB/s.\n");
    write(b"hosts\xff.toml", "via = \"env NAME={host}\"\n[[host]]\nname = \"a\"\n");
    write(b"hosts\xff", "a\n");
    write(b"fio\xff", "#!/bin/sh\necho fio-3.33\n");
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(byte_path(&world, b"fio\xff"), executable).unwrap();
    write(
        b"r\xff.toml",
        "system = \"lab\"\n[[claim]]\nmetric = \"memory.stream/triad\"\nvalue = \"1 MB/s\"\nsource = \"x\"\n\
         date = \"2026-11-01\"\nqualifier = \"at-least\"\n",
    );
    for words in [
        "stream --array-size 1MiB --budget shortest",
        "show --expect l%.toml",
        "stream --array-size 1MiB --budget shortest",
        "compare latest~1 latest --expect g%.toml",
        "references r%.toml",
        "compare latest r%.toml",
        "stream --array-size 1MiB --budget shortest --expect r%.toml",
        "lint p%.md --against p%.md",
        "storage read . --size 1MiB --target-on-root --by fio --tool fio=./fio% --dry-run",
        "doctor --hosts hosts%.toml",
        "doctor --hosts ./hosts% --via env+NAME={host}",
        "run quick --dry-run --hosts hosts%.toml --expect g%.toml",
    ] {
        run_line(&world, words);
    }
}

/// Copies Debian's MPICH to a folder with such a name: launcher, library, and the ranks'
/// environment.
#[test]
fn accepts_non_utf8_mpi_folder() {
    let launcher = std::path::Path::new("/usr/bin/mpiexec.hydra");
    let library = format!("/usr/lib/{}-linux-gnu/libmpich.so.12", std::env::consts::ARCH);
    if !launcher.is_file() || !std::path::Path::new(&library).exists() {
        eprintln!("SKIPPED file_names::accepts_non_utf8_mpi_folder: no MPICH");
        return;
    }
    let _turn = crate::mpi::one_at_a_time();
    let world = World::in_memory();
    let prefix = byte_path(&world, b"mpi\xff");
    for folder in ["bin", "lib"] {
        std::fs::create_dir_all(prefix.join(folder)).unwrap();
    }
    let starter = prefix.join("bin/mpiexec.hydra");
    std::fs::write(&starter, "#!/bin/sh\nexec /usr/bin/mpiexec.hydra \"$@\"\n").unwrap();
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&starter, executable).unwrap();
    std::os::unix::fs::symlink(library, prefix.join("lib/libmpich.so.12")).unwrap();
    std::fs::write(
        byte_path(&world, b"one.toml"),
        "name = \"one\"\nbudget = \"3s\"\n[[measure]]\nbenchmark = \"mpi.latency\"\nto = \"8B\"\n",
    )
    .unwrap();
    for words in ["run one.toml --dry-run --mpi mpi%", "run one.toml --json --mpi mpi%"] {
        run_line(&world, words);
    }
    let document = world.json(&["show", "latest", "--json"]);
    let found = crate::program::results(&document, "mpi.latency", "latency");
    let prefix = found[0]["parameters"]["prefix"].as_str().unwrap();
    assert!(prefix.ends_with("/mpi\u{efff}"), "{prefix:?}");
}
