//! ORION's command line: every option, every refusal with its remedy, and what is printed is read back the same.

use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use rigel::import::orion::{
    Cell, Command, Dialect, LargeLoad, LargeType, Matrix, Options, OrionRun, RunLevel, Simulate, Storax, Volume,
    WarmUp, parse,
};
use rigel::spec::Uri;
use rigel::units::Bytes;

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

fn read(line: &str, dialect: Dialect) -> Options {
    match parse(&words(line), dialect).unwrap_or_else(|error| panic!("{line}: {error}")) {
        Command::Run(options) => *options,
        Command::Help => panic!("{line}: help"),
    }
}

fn run(line: &str) -> OrionRun {
    let targets: Vec<Uri> = vec!["/dev/sdb".parse().unwrap(), "null://1t".parse().unwrap()];
    OrionRun::new(read(line, Dialect::V11_2), targets).unwrap()
}

#[test]
fn every_option_is_read() {
    let line = "-run advanced -testname t1 -num_disks 12 -size_small 4 -size_large 512 -type seq -num_streamIO 8 \
                -simulate raid0 -stripe 256 -write 30 -cache_size 4096 -duration 20 -matrix point -num_small 5 \
                -num_large 6 -storax asmlib -hugenotneeded -verbose";
    let options = read(line, Dialect::V11_2);
    let expected = Options {
        testname: Some("t1".to_owned()),
        num_disks: Some(12),
        size_small: Some(4),
        size_large: Some(512),
        large_type: Some(LargeType::Seq),
        num_stream_io: Some(8),
        simulate: Some(Simulate::Raid0),
        stripe: Some(256),
        write: Some(30),
        cache_size: Some(4096),
        duration: Some(20),
        matrix: Some(Matrix::Point),
        num_small: Some(5),
        num_large: Some(6),
        storax: Some(Storax::Asmlib),
        huge_not_needed: true,
        verbose: true,
        ..Options::new(Dialect::V11_2, RunLevel::Advanced)
    };
    assert_eq!(options, expected);
    assert_eq!(options.command_line(), line.split_whitespace().collect::<Vec<_>>().join(" "));
}

#[test]
fn every_word_of_every_option_is_read() {
    for level in RunLevel::ALL {
        assert_eq!(read(&format!("-run {}", level.word()), Dialect::V11_2).run, *level);
    }
    for matrix in Matrix::ALL {
        let loads = match matrix {
            Matrix::Basic | Matrix::Detailed => "",
            Matrix::Point | Matrix::Max => "-num_small 1 -num_large 1",
            Matrix::Col => "-num_small 0",
            Matrix::Row => "-num_large 0",
        };
        let line = format!("-run advanced -matrix {} {loads}", matrix.word());
        assert_eq!(read(&line, Dialect::V11_2).matrix(), *matrix);
    }
    for storax in Storax::ALL {
        assert_eq!(read(&format!("-run oltp -storax {}", storax.word()), Dialect::V11_1).storax, Some(*storax));
    }
}

#[test]
fn upper_case_and_typeset_dashes_are_read_and_a_tests_name_is_kept() {
    let options = read("-RUN Advanced –testname MyTest -num_streamio 2 —type SEQ --simulate RAID0", Dialect::V11_2);
    assert_eq!(options.command_line(), "-run advanced -testname MyTest -type seq -num_streamIO 2 -simulate raid0");
}

#[test]
fn help_is_help_whatever_else_is_written() {
    for line in ["-help", "-run simple -HELP", "-num_disks 3 -help -type"] {
        assert_eq!(parse(&words(line), Dialect::V10_2), Ok(Command::Help), "{line}");
    }
}

#[test]
fn defaults_are_those_of_the_reference() {
    let simple = run("-run simple");
    assert_eq!((simple.testname.as_str(), simple.disks), ("orion", 2));
    assert_eq!((simple.small_size, simple.large_size), (Bytes(8192), Bytes(1 << 20)));
    assert_eq!((simple.large, simple.volume, simple.warm_up), (LargeLoad::Random, Volume::Concat, WarmUp::None));
    assert_eq!((simple.write_percent, simple.duration.as_secs()), (0, 60));
    assert!(simple.notes.is_empty());
    let streams = run("-run advanced -type seq -simulate raid0");
    assert_eq!(streams.large, LargeLoad::Streams { ios: 4 });
    assert_eq!(streams.volume, Volume::Raid0 { stripe: Bytes(1 << 20) });
    assert_eq!(streams.warm_up, WarmUp::For(std::time::Duration::from_secs(120)));
    let cell = Cell { small: 0, large: 3 };
    assert_eq!(streams.cell_job(cell).workload.iter().map(|w| w.outstanding).collect::<Vec<_>>(), [Some(4); 3]);
    assert_eq!(run("-run advanced -type seq -cache_size 0").warm_up, WarmUp::None);
    assert_eq!(run("-run advanced -type seq -cache_size 2").warm_up, WarmUp::Amount(Bytes(2 << 20)));
}

#[test]
fn what_means_less_here_is_noted() {
    let notes = run("-run simple -testname x.lun -hugenotneeded -storax oss -cache_size 64").notes;
    for (note, says) in notes.iter().zip(["-testname x.lun", "-hugenotneeded", "-storax oss", "-cache_size"]) {
        assert!(note.contains(says), "{note}");
    }
    assert_eq!(notes.len(), 4);
    assert_eq!(run("-run simple -testname x.lun").testname, "x");
}

#[test]
fn ten_two_wants_its_three_options_and_later_ones_want_one() {
    read("-run simple -testname a -num_disks 1", Dialect::V10_2);
    read("-run oltp", Dialect::V11_1);
    read("-run dss", Dialect::V11_2);
    for (line, says) in [
        (
            "-run simple -num_disks 1",
            "-testname: is mandatory in ORION 10.2; write -testname NAME, or take the 11.2 dialect",
        ),
        (
            "-run simple -testname a",
            "-num_disks: is mandatory in ORION 10.2; write -num_disks N, or take the 11.2 dialect",
        ),
        (
            "-run dss -testname a -num_disks 1",
            "-run: `dss` came after ORION 10.2; take the 11.2 dialect, or write -run simple",
        ),
        (
            "-run oltp -testname a -num_disks 1",
            "-run: `oltp` came after ORION 10.2; take the 11.2 dialect, or write -run simple",
        ),
        ("-run simple -storax oss", "-storax: came after ORION 10.2; take the 11.2 dialect, or leave it out"),
        ("-run simple -hugenotneeded", "-hugenotneeded: came after ORION 10.2; take the 11.2 dialect, or leave it out"),
    ] {
        assert_eq!(parse(&words(line), Dialect::V10_2).unwrap_err().to_string(), says, "{line}");
    }
}

#[test]
fn each_refusal_names_the_option_and_the_remedy() {
    for (line, says) in [
        ("", "-run: is missing; write -run simple, normal, advanced, dss or oltp"),
        ("-testname a", "-run: is missing; write -run simple, normal, advanced, dss or oltp"),
        ("-run", "-run: has no value; write simple, normal, advanced, dss or oltp behind it"),
        ("-run fast", "-run: unknown value `fast`; write simple, normal, advanced, dss or oltp"),
        (
            "-run simpel",
            "-run: unknown value `simpel` (did you mean `simple`?); write simple, normal, advanced, dss or oltp",
        ),
        (
            "simple",
            "`simple`: is not an option; an option begins with `-` and has at most one value, such as -num_disks 8",
        ),
        ("-run=simple", "-run: its value is the next word; write -run simple"),
        ("-run simple -run oltp", "-run: is given twice; give it once"),
        (
            "-run simple -num_disks -verbose",
            "-num_disks: has no value; write a whole number of disks, 1 to 52428 behind it",
        ),
        ("-run simple -num_disks 0", "-num_disks: `0` cannot be used; write a whole number of disks, 1 to 52428"),
        ("-run simple -num_disks -5", "-num_disks: `-5` cannot be used; write a whole number of disks, 1 to 52428"),
        ("-run simple -num_disks +5", "-num_disks: `+5` cannot be used; write a whole number of disks, 1 to 52428"),
        (
            "-run simple -testname a/",
            "-testname: `a/` names no test; write the .lun file's name without its extension, such as mytest",
        ),
        ("-run advanced -size_small 8k", "-size_small: `8k` cannot be used; write a whole number of KB, 1 to 65536"),
        (
            "-run advanced -size_large 65537",
            "-size_large: `65537` cannot be used; write a whole number of KB, 1 to 65536",
        ),
        ("-run advanced -type random", "-type: unknown value `random` (did you mean `rand`?); write rand or seq"),
        (
            "-run advanced -type seq -num_streamIO 0",
            "-num_streamIO: `0` cannot be used; write a whole number of I/Os a stream, 1 to 65535",
        ),
        (
            "-run simple -simulate raid5",
            "-simulate: unknown value `raid5` (did you mean `raid0`?); write concat or raid0",
        ),
        (
            "-run simple -simulate raid0 -stripe 0",
            "-stripe: `0` cannot be used; write a whole number of KB, 1 to 1048576",
        ),
        ("-run simple -write 101", "-write: `101` cannot be used; write a whole number of per cent, 0 to 100"),
        ("-run simple -cache_size 1g", "-cache_size: `1g` cannot be used; write a whole number of MB, 0 to 4294967295"),
        ("-run simple -duration 0", "-duration: `0` cannot be used; write a whole number of seconds, 1 to 2592000"),
        ("-run advanced -matrix all", "-matrix: unknown value `all`; write basic, detailed, point, col, row or max"),
        ("-run simple -storax nfs", "-storax: unknown value `nfs`; write skgfr, oss, asmlib or odmlib"),
        ("-run advanced -num_streamIO 4", "-num_streamIO: is of sequential streams; add -type seq, or leave it out"),
        ("-run simple -stripe 512", "-stripe: is of a striped volume; add -simulate raid0, or leave it out"),
        (
            "-run simple -simulate concat -stripe 512",
            "-stripe: is of a striped volume; add -simulate raid0, or leave it out",
        ),
        (
            "-run advanced -num_small 5",
            "-num_small: has no use at -matrix basic; write -matrix point, col or max, or leave -num_small out",
        ),
        (
            "-run advanced -matrix col -num_small 0 -num_large 1",
            "-num_large: has no use at -matrix col; write -matrix point, row or max, or leave -num_large out",
        ),
        (
            "-run advanced -matrix point -num_small 1",
            "-num_large: is missing, and -matrix point needs it; write -num_large N",
        ),
        ("-run advanced -matrix col", "-num_small: is missing, and -matrix col needs it; write -num_small N"),
        ("-run advanced -matrix row", "-num_large: is missing, and -matrix row needs it; write -num_large N"),
        (
            "-run advanced -matrix max -num_large 1",
            "-num_small: is missing, and -matrix max needs it; write -num_small N",
        ),
        (
            "-run advanced -matrix point -num_small 0 -num_large 0",
            "-matrix: -matrix point of no I/O at all; make -num_small or -num_large at least 1",
        ),
        (
            "-run advanced -matrix max -num_small 0 -num_large 0",
            "-matrix: -matrix max of no I/O at all; make -num_small or -num_large at least 1",
        ),
        (
            "-run advanced -type seq -matrix row -num_large 1048576",
            "-num_large: asks for 4194304 outstanding large I/Os; at most 1048576 are possible: lower it",
        ),
    ] {
        assert_eq!(parse(&words(line), Dialect::V11_2).unwrap_err().to_string(), says, "{line}");
    }
    let unknown = parse(&words("-run simple -num_disk 3"), Dialect::V11_2).unwrap_err().to_string();
    assert!(
        unknown.starts_with("-num_disk: unknown option (did you mean `num_disks`?); known: -run, -testname"),
        "{unknown}"
    );
}

#[test]
fn what_a_run_level_fixes_cannot_be_set() {
    for level in ["simple", "normal", "dss", "oltp"] {
        for option in
            ["size_small 8", "size_large 8", "type seq", "num_streamIO 4", "matrix basic", "num_small 1", "num_large 1"]
        {
            let error = parse(&words(&format!("-run {level} -{option}")), Dialect::V11_2).unwrap_err().to_string();
            let name = option.split_once(' ').unwrap().0;
            let says = format!("-{name}: is fixed at -run {level}; write -run advanced, or leave -{name} out");
            assert_eq!(error, says);
        }
    }
}

#[test]
fn streams_that_no_job_can_hold_are_refused_when_the_disks_are_known() {
    let options = read("-run advanced -type seq -num_streamIO 65535 -num_disks 50", Dialect::V11_2);
    let error = OrionRun::new(options, Vec::new()).unwrap_err().to_string();
    assert!(error.starts_with("-num_streamIO: asks for 6553500 outstanding I/Os; at most 1048576"), "{error}");
}

fn some(range: std::ops::RangeInclusive<u32>) -> impl Strategy<Value = Option<u32>> {
    option::of(range)
}

fn any_options() -> impl Strategy<Value = Options> {
    let level =
        (select(Dialect::ALL), select(RunLevel::ALL), option::of("[a-zA-Z0-9/_.]{0,8}[a-z0-9]"), some(1..=52_428));
    let sizes = (some(1..=65_536), some(1..=65_536), option::of(select(LargeType::ALL)), some(1..=64));
    let volume =
        (option::of(select(Simulate::ALL)), some(1..=1_048_576), some(0..=100), some(0..=u32::MAX), some(1..=9_999));
    let matrix = (option::of(select(Matrix::ALL)), some(0..=9_999), some(0..=9_999));
    let rest = (option::of(select(Storax::ALL)), any::<bool>(), any::<bool>());
    (level, sizes, volume, matrix, rest).prop_map(|(level, sizes, volume, matrix, rest)| Options {
        testname: level.2,
        num_disks: level.3,
        size_small: sizes.0,
        size_large: sizes.1,
        large_type: sizes.2,
        num_stream_io: sizes.3,
        simulate: volume.0,
        stripe: volume.1,
        write: volume.2,
        cache_size: volume.3,
        duration: volume.4,
        matrix: matrix.0,
        num_small: matrix.1,
        num_large: matrix.2,
        storax: rest.0,
        huge_not_needed: rest.1,
        verbose: rest.2,
        ..Options::new(level.0, level.1)
    })
}

/// The options with what contradicts the others taken out, so that most of them are no refusals.
fn consistent(options: Options) -> Options {
    let mut options = options;
    if options.run != RunLevel::Advanced {
        (options.size_small, options.size_large, options.large_type) = (None, None, None);
        (options.matrix, options.num_small, options.num_large) = (None, None, None);
    }
    if options.large_type() != LargeType::Seq {
        options.num_stream_io = None;
    }
    if options.simulate != Some(Simulate::Raid0) {
        options.stripe = None;
    }
    match options.matrix() {
        Matrix::Basic | Matrix::Detailed => (options.num_small, options.num_large) = (None, None),
        Matrix::Row => (options.num_small, options.num_large) = (None, options.num_large.or(Some(3))),
        Matrix::Col => (options.num_small, options.num_large) = (options.num_small.or(Some(3)), None),
        Matrix::Point | Matrix::Max => {
            (options.num_small, options.num_large) =
                (options.num_small.or(Some(3)).map(|n| n + 1), options.num_large.or(Some(3)));
        }
    }
    if options.dialect == Dialect::V10_2 {
        options.dialect = Dialect::V11_1;
    }
    options
}

proptest! {
    #[test]
    fn what_is_printed_is_read_back_the_same(options in any_options().prop_map(consistent)) {
        prop_assert_eq!(parse(&options.words(), options.dialect), Ok(Command::Run(Box::new(options))));
    }

    #[test]
    fn any_options_are_read_back_the_same_or_refused_by_name(options in any_options()) {
        match parse(&options.words(), options.dialect) {
            Ok(read) => prop_assert_eq!(read, Command::Run(Box::new(options))),
            Err(error) => prop_assert!(error.place.starts_with('-'), "{}", error),
        }
    }

    #[test]
    fn no_words_make_it_panic(words in proptest::collection::vec("[-–a-z_0-9=. ]{0,10}|-run|-matrix|max|advanced|5", 0..8)) {
        let _ = parse(&words, Dialect::V11_2);
    }
}
