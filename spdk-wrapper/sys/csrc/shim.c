#include "shim.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "spdk/bdev_module.h"
#include "spdk/nvmf_spec.h"
#include "spdk/string.h"

/* The completion callback reads the status at this place. */
_Static_assert(sizeof(struct spdk_nvme_cpl) == 16, "an NVMe completion is 16 bytes");
_Static_assert(offsetof(struct spdk_nvme_cpl, status) == 14, "its status stands in the last two");

int
rigel_env_init(const struct rigel_env *env)
{
	struct spdk_env_opts opts = {};

	/* The size goes first: the function below fills in only what it covers. */
	opts.opts_size = sizeof(opts);
	spdk_env_opts_init(&opts);
	opts.name = env->name;
	opts.core_mask = env->core_mask;
	opts.mem_size = env->mem_mb;
	opts.no_pci = env->no_pci;
	opts.no_huge = env->no_huge;
	/* vfio-user shares memory by file descriptor, one for the whole of it; anonymous, so that no file is left behind
	 * however the process ends. */
	opts.hugepage_single_segments = !env->no_huge;
	/* Physical addresses are for devices on the bus, and reading them takes root. (Without hugepages SPDK says so itself.) */
	if (env->no_pci && !env->no_huge) {
		opts.iova_mode = "va";
	}
	opts.env_context = env->no_huge ? "--log-level=lib.eal:4" : "--in-memory --log-level=lib.eal:4";
	return spdk_env_init(&opts);
}

static rigel_log_fn g_log_fn;

static void
log_message(int level, const char *file, const int line, const char *func, const char *format, va_list args)
{
	char text[1024];

	(void)file;
	(void)line;
	(void)func;
	vsnprintf(text, sizeof(text), format, args);
	g_log_fn(level, text);
}

void
rigel_log_to(rigel_log_fn fn)
{
	g_log_fn = fn;
	spdk_log_open(log_message);
	/* Nothing straight to stderr: the receiver decides what a person sees. */
	spdk_log_set_print_level(SPDK_LOG_DISABLED);
}

static int
thread_op(struct spdk_thread *thread, enum spdk_thread_op op)
{
	(void)thread;
	return op == SPDK_THREAD_OP_NEW ? 0 : -ENOTSUP;
}

static bool
thread_op_supported(enum spdk_thread_op op)
{
	return op == SPDK_THREAD_OP_NEW;
}

int
rigel_thread_lib_init(void)
{
	return spdk_thread_lib_init_ext(thread_op, thread_op_supported, 0, SPDK_DEFAULT_MSG_MEMPOOL_SIZE);
}

struct spdk_nvme_ctrlr *
rigel_nvme_connect(const char *trid_text, uint32_t io_queue_size, uint32_t keep_alive_ms)
{
	struct spdk_nvme_transport_id trid = {};
	struct spdk_nvme_ctrlr_opts opts;

	if (spdk_nvme_transport_id_parse(&trid, trid_text) != 0) {
		return NULL;
	}
	spdk_nvme_ctrlr_get_default_ctrlr_opts(&opts, sizeof(opts));
	if (io_queue_size != 0) {
		opts.io_queue_size = io_queue_size;
		opts.io_queue_requests = spdk_max(opts.io_queue_requests, io_queue_size * 2);
	}
	opts.keep_alive_timeout_ms = keep_alive_ms;
	opts.transport_retry_count = 0;
	/* A target that takes the connection and then says nothing: give up soon, the default is two minutes. */
	opts.fabrics_connect_timeout_us = 4 * 1000 * 1000;
	opts.admin_timeout_ms = 4 * 1000;
	/* Failed commands are counted by status; printing each would cost the polled core more than the I/O. */
	opts.disable_error_logging = true;
	return spdk_nvme_connect(&trid, &opts, sizeof(opts));
}

static void
copy_trimmed(char *out, size_t out_len, const void *field, size_t field_len)
{
	size_t n = spdk_min(out_len - 1, field_len);

	memcpy(out, field, n);
	out[n] = '\0';
	while (n > 0 && (out[n - 1] == ' ' || out[n - 1] == '\0')) {
		out[--n] = '\0';
	}
}

void
rigel_nvme_identity(struct spdk_nvme_ctrlr *ctrlr, struct spdk_nvme_ns *ns, struct rigel_nvme_identity *out)
{
	const struct spdk_nvme_ctrlr_data *data = spdk_nvme_ctrlr_get_data(ctrlr);
	const struct spdk_nvme_ns_data *ns_data = spdk_nvme_ns_get_data(ns);
	union spdk_nvme_cap_register cap = spdk_nvme_ctrlr_get_regs_cap(ctrlr);

	memset(out, 0, sizeof(*out));
	copy_trimmed(out->serial, sizeof(out->serial), data->sn, sizeof(data->sn));
	copy_trimmed(out->model, sizeof(out->model), data->mn, sizeof(data->mn));
	copy_trimmed(out->firmware, sizeof(out->firmware), data->fr, sizeof(data->fr));
	memcpy(out->nguid, ns_data->nguid, sizeof(out->nguid));
	memcpy(out->eui64, &ns_data->eui64, sizeof(out->eui64));
	out->max_queue_depth = cap.bits.mqes;
}

struct spdk_nvme_qpair *
rigel_nvme_alloc_qpair(struct spdk_nvme_ctrlr *ctrlr, uint32_t size, uint32_t requests)
{
	struct spdk_nvme_io_qpair_opts opts;

	spdk_nvme_ctrlr_get_default_io_qpair_opts(ctrlr, &opts, sizeof(opts));
	opts.io_queue_size = size;
	opts.io_queue_requests = requests;
	/* Doorbells are rung once per poll, not once per command. */
	opts.delay_cmd_submit = true;
	opts.create_only = true;
	/* Connecting is polled by the caller, who has a limit; SPDK's own wait for it may have none. */
	opts.async_mode = true;
	return spdk_nvme_ctrlr_alloc_io_qpair(ctrlr, &opts, sizeof(opts));
}

bool
rigel_nvme_is_failed(struct spdk_nvme_ctrlr *ctrlr)
{
	return spdk_nvme_ctrlr_is_failed(ctrlr);
}

bool
rigel_nvme_detach(struct spdk_nvme_ctrlr *ctrlr, uint32_t limit_ms)
{
	struct spdk_nvme_detach_ctx *ctx = NULL;
	uint64_t deadline = spdk_get_ticks() + spdk_get_ticks_hz() * limit_ms / 1000;

	if (spdk_nvme_detach_async(ctrlr, &ctx) != 0) {
		return false;
	}
	while (ctx != NULL && spdk_nvme_detach_poll_async(ctx) == -EAGAIN) {
		if (spdk_get_ticks() > deadline) {
			return false;
		}
	}
	return true;
}

struct discovery {
	bool done;
	int rc;
	struct spdk_nvmf_discovery_log_page *page;
};

static void
discovery_done(void *ctx, int rc, const struct spdk_nvme_cpl *cpl, struct spdk_nvmf_discovery_log_page *page)
{
	struct discovery *d = ctx;

	d->rc = rc != 0 ? rc : (spdk_nvme_cpl_is_error(cpl) ? -EIO : 0);
	d->page = page;
	d->done = true;
}

int
rigel_nvme_discover(const char *trid, char *buf, size_t len)
{
	struct spdk_nvme_ctrlr *ctrlr = rigel_nvme_connect(trid, 0, 0);
	struct discovery d = {};
	size_t used = 0;
	int found = 0;

	if (ctrlr == NULL) {
		return -ENXIO;
	}
	d.rc = spdk_nvme_ctrlr_get_discovery_log_page(ctrlr, discovery_done, &d);
	uint64_t deadline = spdk_get_ticks() + 3 * spdk_get_ticks_hz();

	while (d.rc == 0 && !d.done) {
		if (spdk_get_ticks() > deadline) {
			d.rc = -ETIMEDOUT;
			break;
		}
		int32_t rc = spdk_nvme_ctrlr_process_admin_completions(ctrlr);

		if (rc < 0) {
			d.rc = rc;
		}
	}
	if (d.rc == 0) {
		for (uint64_t i = 0; i < d.page->numrec; i++) {
			const struct spdk_nvmf_discovery_log_page_entry *e = &d.page->entries[i];
			char nqn[sizeof(e->subnqn) + 1];

			if (e->subtype != SPDK_NVMF_SUBTYPE_NVME) {
				continue;
			}
			copy_trimmed(nqn, sizeof(nqn), e->subnqn, strnlen((const char *)e->subnqn, sizeof(e->subnqn)));
			used += snprintf(buf + used, len - used, "%s\n", nqn);
			if (used >= len) {
				break;
			}
			found++;
		}
	}
	/* When there was no answer, a late callback would write into this frame: detaching completes whatever is
	 * outstanding; a controller that cannot be detached is never polled again. */
	rigel_nvme_detach(ctrlr, 2000);
	free(d.page);
	return d.rc != 0 ? d.rc : found;
}

uint16_t
rigel_bdev_nvme_status(const struct spdk_bdev_io *io)
{
	uint32_t cdw0;
	int sct, sc;

	spdk_bdev_io_get_nvme_status(io, &cdw0, &sct, &sc);
	return (uint16_t)(sct << 8 | sc);
}

bool
rigel_bdev_speaks_scsi(const struct spdk_bdev_io *io)
{
	return strstr(spdk_bdev_get_product_name(io->bdev), "iSCSI") != NULL;
}

uint32_t
rigel_bdev_scsi_status(const struct spdk_bdev_io *io)
{
	int sc, sk, asc, ascq;

	spdk_bdev_io_get_scsi_status(io, &sc, &sk, &asc, &ascq);
	/* libiscsi's own outcomes lie above the range of SCSI's: 0x0f000000 cancelled, +1 error, +2 timeout. */
	if (sc > 0xff) {
		sc = sc >= 0x0f000000 && sc <= 0x0f000002 ? 0xf0 + (sc & 0x3) : 0xf1;
	}
	return (uint32_t)(sc & 0xff) << 24 | (uint32_t)(sk & 0xff) << 16 | (uint32_t)(asc & 0xff) << 8 | (uint32_t)(ascq & 0xff);
}
