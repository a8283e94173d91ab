/* What bindgen cannot do: inlines, macros, structs whose size is part of the call, va_list.
 * Rule: rigel_* is C called from Rust; no policy here, only translation. */
#ifndef RIGEL_SHIM_H
#define RIGEL_SHIM_H

#include <stdbool.h>
#include <stdint.h>

#include "spdk/bdev.h"
#include "spdk/env.h"
#include "spdk/init.h"
#include "spdk/log.h"
#include "spdk/nvme.h"
#include "spdk/rpc.h"
#include "spdk/thread.h"

struct rigel_env {
	const char *name;
	const char *core_mask;
	/* Megabytes of memory to take at the start; with no_huge also the most there is. */
	int mem_mb;
	bool no_huge;
	bool no_pci;
};

/* 0, or a negative errno. */
int rigel_env_init(const struct rigel_env *env);

/* One message, complete and NUL-terminated; level is enum spdk_log_level. */
typedef void (*rigel_log_fn)(int level, const char *message);
void rigel_log_to(rigel_log_fn fn);

/* Lets SPDK make threads; they are polled by their owners, so there is nothing to schedule. */
int rigel_thread_lib_init(void);

struct rigel_nvme_identity {
	char serial[21];
	char model[41];
	char firmware[9];
	/* All zero when the namespace has none. */
	uint8_t nguid[16];
	uint8_t eui64[8];
	uint32_t max_queue_depth;
};

/* Parses a transport id string ("trtype:TCP adrfam:…"), connects with this host NQN suffix and keep-alive time.
 * NULL on failure. */
struct spdk_nvme_ctrlr *rigel_nvme_connect(const char *trid, uint32_t io_queue_size, uint32_t keep_alive_ms);
void rigel_nvme_identity(struct spdk_nvme_ctrlr *ctrlr, struct spdk_nvme_ns *ns, struct rigel_nvme_identity *out);
/* Detaches; false when the controller did not let go within the limit, and is left as it is. */
bool rigel_nvme_detach(struct spdk_nvme_ctrlr *ctrlr, uint32_t limit_ms);
/* A queue pair that is not connected yet. NULL on failure. */
struct spdk_nvme_qpair *rigel_nvme_alloc_qpair(struct spdk_nvme_ctrlr *ctrlr, uint32_t size, uint32_t requests);
/* Whether the controller has been given up by the driver. */
bool rigel_nvme_is_failed(struct spdk_nvme_ctrlr *ctrlr);
/* The NQNs a discovery controller offers, one a line, into buf; the number found, or a negative errno. */
int rigel_nvme_discover(const char *trid, char *buf, size_t len);

/* Status of a failed bdev I/O as NVMe sct and sc, packed as (sct << 8 | sc). */
uint16_t rigel_bdev_nvme_status(const struct spdk_bdev_io *io);
/* errno-like status for bdevs that know neither NVMe nor SCSI; SCSI sense packed as (sc << 24 | sk << 16 | asc << 8 | ascq). */
uint32_t rigel_bdev_scsi_status(const struct spdk_bdev_io *io);
/* Whether the bdev behind a failed I/O answers in SCSI rather than in NVMe. */
bool rigel_bdev_speaks_scsi(const struct spdk_bdev_io *io);

#endif
