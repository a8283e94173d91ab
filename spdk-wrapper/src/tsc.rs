//! The processor's time stamp counter. Owns the one instruction that reads it; calibration is the caller's.

/// The counter's present value. Not serialising: it may be read a few nanoseconds before earlier instructions retire,
/// far below what an I/O takes.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
#[must_use]
pub fn now() -> u64 {
    // SAFETY: RDTSC is part of every x86-64 processor, reads no memory and has no precondition; where the kernel
    // forbids it (PR_SET_TSC) the process gets SIGSEGV, it does not continue with undefined behaviour.
    // There is no safe route to the counter in the standard library.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// The counter's present value (the generic timer's virtual count).
#[cfg(target_arch = "aarch64")]
#[inline(always)]
#[must_use]
pub fn now() -> u64 {
    let ticks: u64;
    // SAFETY: CNTVCT_EL0 is readable from user space on Linux, the read touches no memory and no flags.
    unsafe { core::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack, preserves_flags)) };
    ticks
}
