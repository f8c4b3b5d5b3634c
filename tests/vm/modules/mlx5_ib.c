// SPDX-License-Identifier: GPL-2.0
/*
 * mlx5_ib - stands in for the RDMA half of the network adapters' driver: devices with any name, PCI
 * parent, link layer and port state, and no data path. They say that they are of rxe's kind,
 * because rxe's user-space provider asks nothing of the kernel driver that cannot be answered here.
 *
 *   modprobe mlx5_ib 'device=mlx5_0;pci=0000:94:00.0;lid=1,mlx5_1;layer=Ethernet;netdev=eth0'
 */
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/pci.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_pma.h>
#include <rdma/ib_verbs.h>

#define DEVICES_MAX 16

static char *device[DEVICES_MAX];
static int devices_count;
module_param_array(device, charp, &devices_count, 0444);
MODULE_PARM_DESC(device, "NAME[;KEY=VALUE]... for each device");

struct standin {
	struct ib_device ib;
	struct pci_dev *pdev;
	struct net_device *netdev;
	bool ethernet;
	bool refuse_counters;
	enum ib_port_state state;
	u32 lid, sm_lid;
	u32 gids;
	u32 mtu;
	u32 symbol_error, link_downed;
	enum ib_port_speed speed;
	enum ib_port_width width;
	const char *firmware, *board, *hca;
	u64 guid;
};

/* Objects that user space holds; nothing of our own belongs to them. */
struct standin_ucontext {
	struct ib_ucontext ib;
};
struct standin_pd {
	struct ib_pd ib;
};

static struct standin *standins[DEVICES_MAX];

static struct standin *standin_of(struct ib_device *ib)
{
	return container_of(ib, struct standin, ib);
}

/* ---- what a device says of itself ---- */

static int query_device(struct ib_device *ib, struct ib_device_attr *attr, struct ib_udata *udata)
{
	u32 version[3] = { 0 };

	memset(attr, 0, sizeof(*attr));
	/* rxe's provider prints it as 16-bit parts; an unreadable one is 0.0.0. */
	if (sscanf(standin_of(ib)->firmware, "%u.%u.%u", version, version + 1, version + 2) == 3)
		attr->fw_ver = (u64)version[0] << 32 | version[1] << 16 | version[2];
	attr->vendor_id = 0x02c9; /* Mellanox, as IEEE numbers it */
	attr->vendor_part_id = 4129;
	attr->sys_image_guid = ib->node_guid;
	attr->max_mr_size = ~0ULL;
	attr->max_qp = 1024;
	attr->max_pkeys = 1;
	return 0;
}

static enum ib_port_phys_state physical_state(const struct standin *s)
{
	return s->state == IB_PORT_DOWN ? IB_PORT_PHYS_STATE_POLLING : IB_PORT_PHYS_STATE_LINK_UP;
}

static int query_port(struct ib_device *ib, u32 port, struct ib_port_attr *attr)
{
	struct standin *s = standin_of(ib);

	attr->state = s->state;
	attr->phys_state = physical_state(s);
	attr->max_mtu = IB_MTU_4096;
	attr->active_mtu = ib_mtu_int_to_enum(s->mtu);
	attr->gid_tbl_len = s->gids;
	attr->pkey_tbl_len = 1;
	attr->max_msg_sz = 1 << 30;
	attr->lid = s->lid;
	attr->sm_lid = s->sm_lid;
	attr->active_speed = s->speed;
	attr->active_width = s->width;
	return 0;
}

static int port_immutable(struct ib_device *ib, u32 port, struct ib_port_immutable *immutable)
{
	struct standin *s = standin_of(ib);

	immutable->pkey_tbl_len = 1;
	immutable->gid_tbl_len = s->gids;
	immutable->core_cap_flags = s->ethernet ? RDMA_CORE_CAP_PROT_ROCE |
							  RDMA_CORE_CAP_PROT_ROCE_UDP_ENCAP
						: RDMA_CORE_CAP_PROT_IB;
	return 0;
}

static enum rdma_link_layer link_layer(struct ib_device *ib, u32 port)
{
	return standin_of(ib)->ethernet ? IB_LINK_LAYER_ETHERNET : IB_LINK_LAYER_INFINIBAND;
}

static int query_pkey(struct ib_device *ib, u32 port, u16 index, u16 *pkey)
{
	*pkey = 0xffff;
	return 0;
}

/* InfiniBand only: the kernel keeps the GIDs of an Ethernet port itself, from the addresses of its
 * network interface. */
static int query_gid(struct ib_device *ib, u32 port, int index, union ib_gid *gid)
{
	memset(gid, 0, sizeof(*gid));
	if (index)
		return 0;
	gid->global.subnet_prefix = cpu_to_be64(0xfe80000000000000ULL);
	gid->global.interface_id = ib->node_guid;
	return 0;
}

static int add_gid(const struct ib_gid_attr *attr, void **context)
{
	return 0;
}

static int del_gid(const struct ib_gid_attr *attr, void **context)
{
	return 0;
}

static void firmware_text(struct ib_device *ib, char *text)
{
	strscpy(text, standin_of(ib)->firmware, IB_FW_VERSION_NAME_MAX);
}

/* Port counters come as an answer to a management packet (core/sysfs.c, get_perf_mad). */
static int process_mad(struct ib_device *ib, int flags, u32 port, const struct ib_wc *wc,
		       const struct ib_grh *grh, const struct ib_mad *in, struct ib_mad *out,
		       size_t *out_size, u16 *out_pkey)
{
	struct standin *s = standin_of(ib);
	struct ib_pma_portcounters *counters = (void *)(out->data + 40);

	if (in->mad_hdr.attr_id == IB_PMA_CLASS_PORT_INFO)
		return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
	if (s->refuse_counters) {
		/* What mlx5_core writes for a function that the firmware keeps to itself. */
		dev_err(&ib->dev, "ACCESS_REG(0x805) op_mod(0x1) failed\n");
		return IB_MAD_RESULT_FAILURE;
	}
	counters->symbol_error_counter = cpu_to_be16(s->symbol_error);
	counters->link_downed_counter = s->link_downed;
	return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
}

/* ---- what opening one takes ---- */

static int alloc_ucontext(struct ib_ucontext *context, struct ib_udata *udata)
{
	return 0;
}

static void dealloc_ucontext(struct ib_ucontext *context)
{
}

static int alloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

static int dealloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

/* ---- attributes that only mlx5 has ---- */

static ssize_t hca_type_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", rdma_device_to_drv_device(dev, struct standin, ib)->hca);
}
static DEVICE_ATTR_RO(hca_type);

static ssize_t board_id_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", rdma_device_to_drv_device(dev, struct standin, ib)->board);
}
static DEVICE_ATTR_RO(board_id);

static struct attribute *attributes[] = { &dev_attr_hca_type.attr, &dev_attr_board_id.attr, NULL };
static const struct attribute_group attribute_group = { .attrs = attributes };

static const struct ib_device_ops standin_ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_RXE,
	.uverbs_abi_ver = 2,
	.device_group = &attribute_group,
	.query_device = query_device,
	.query_port = query_port,
	.get_port_immutable = port_immutable,
	.get_link_layer = link_layer,
	.get_dev_fw_str = firmware_text,
	.query_pkey = query_pkey,
	.query_gid = query_gid,
	.add_gid = add_gid,
	.del_gid = del_gid,
	.process_mad = process_mad,
	.alloc_ucontext = alloc_ucontext,
	.dealloc_ucontext = dealloc_ucontext,
	.alloc_pd = alloc_pd,
	.dealloc_pd = dealloc_pd,
	INIT_RDMA_OBJ_SIZE(ib_ucontext, standin_ucontext, ib),
	INIT_RDMA_OBJ_SIZE(ib_pd, standin_pd, ib),
};

/* ---- making them ---- */

static int parse_word(const char *value, const char *const words[], const int numbers[], int *out)
{
	int i;

	for (i = 0; words[i]; i++)
		if (!strcmp(words[i], value)) {
			*out = numbers[i];
			return 0;
		}
	return -EINVAL;
}

static int parse_state(const char *value, struct standin *s)
{
	static const char *const words[] = { "DOWN", "INIT", "ARMED", "ACTIVE", NULL };
	static const int numbers[] = { IB_PORT_DOWN, IB_PORT_INIT, IB_PORT_ARMED, IB_PORT_ACTIVE };
	int number;

	if (parse_word(value, words, numbers, &number))
		return -EINVAL;
	s->state = number;
	return 0;
}

static int parse_speed(const char *value, struct standin *s)
{
	static const char *const words[] = { "SDR", "EDR", "HDR", "NDR", NULL };
	static const int numbers[] = { IB_SPEED_SDR, IB_SPEED_EDR, IB_SPEED_HDR, IB_SPEED_NDR };
	int number;

	if (parse_word(value, words, numbers, &number))
		return -EINVAL;
	s->speed = number;
	return 0;
}

static int parse_width(const char *value, struct standin *s)
{
	static const char *const words[] = { "1", "2", "4", "8", NULL };
	static const int numbers[] = { IB_WIDTH_1X, IB_WIDTH_2X, IB_WIDTH_4X, IB_WIDTH_8X };
	int number;

	if (parse_word(value, words, numbers, &number))
		return -EINVAL;
	s->width = number;
	return 0;
}

static int find_pci(const char *value, struct standin *s)
{
	unsigned int domain, bus, slot, function;

	if (sscanf(value, "%x:%x:%x.%x", &domain, &bus, &slot, &function) != 4)
		return -EINVAL;
	s->pdev = pci_get_domain_bus_and_slot(domain, bus, PCI_DEVFN(slot, function));
	return s->pdev ? 0 : -ENODEV;
}

static int find_netdev(const char *value, struct standin *s)
{
	s->netdev = dev_get_by_name(&init_net, value);
	return s->netdev ? 0 : -ENODEV;
}

static int parse_number(const char *key, const char *value, struct standin *s)
{
	const struct {
		const char *key;
		u32 *number;
	} numbers[] = {
		{ "lid", &s->lid },   { "sm_lid", &s->sm_lid },
		{ "gids", &s->gids }, { "symbol_error", &s->symbol_error },
		{ "mtu", &s->mtu },   { "link_downed", &s->link_downed },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		if (!strcmp(key, numbers[i].key))
			return kstrtou32(value, 0, numbers[i].number);
	if (!strcmp(key, "guid"))
		return kstrtou64(value, 0, &s->guid);
	return -EINVAL;
}

static int parse_option(char *option, struct standin *s)
{
	char *value = strchr(option, '=');

	if (!value)
		return -EINVAL;
	*value++ = '\0';
	if (!strcmp(option, "pci"))
		return find_pci(value, s);
	if (!strcmp(option, "netdev"))
		return find_netdev(value, s);
	if (!strcmp(option, "state"))
		return parse_state(value, s);
	if (!strcmp(option, "speed"))
		return parse_speed(value, s);
	if (!strcmp(option, "width"))
		return parse_width(value, s);
	if (!strcmp(option, "layer"))
		s->ethernet = !strcmp(value, "Ethernet");
	else if (!strcmp(option, "fw"))
		s->firmware = value;
	else if (!strcmp(option, "board"))
		s->board = value;
	else if (!strcmp(option, "hca"))
		s->hca = value;
	else if (!strcmp(option, "counters"))
		s->refuse_counters = !strcmp(value, "refused");
	else
		return parse_number(option, value, s);
	return 0;
}

static void put_standin(struct standin *s)
{
	struct net_device *netdev = s->netdev;
	struct pci_dev *pdev = s->pdev;

	ib_dealloc_device(&s->ib);
	dev_put(netdev);
	pci_dev_put(pdev);
}

static int register_standin(struct standin *s, const char *name)
{
	int rc;

	if (s->pdev)
		s->ib.dev.parent = &s->pdev->dev;
	s->ib.node_type = RDMA_NODE_IB_CA;
	s->ib.phys_port_cnt = 1;
	s->ib.num_comp_vectors = 1;
	s->ib.node_guid = cpu_to_be64(s->guid);
	strscpy(s->ib.node_desc, "stand-in", sizeof(s->ib.node_desc));
	ib_set_device_ops(&s->ib, &standin_ops);
	if (s->netdev) {
		rc = ib_device_set_netdev(&s->ib, s->netdev, 1);
		if (rc)
			return rc;
	}
	return ib_register_device(&s->ib, name, NULL);
}

static int make_standin(unsigned int index)
{
	struct standin *s = ib_alloc_device(standin, ib);
	char *rest = device[index], *name = strsep(&rest, ";"), *option;
	int rc = 0;

	if (!s)
		return -ENOMEM;
	s->state = IB_PORT_ACTIVE;
	s->speed = IB_SPEED_NDR;
	s->width = IB_WIDTH_4X;
	s->gids = 8;
	s->mtu = 4096;
	s->firmware = "28.39.1002";
	s->board = "MT_0000000838";
	s->hca = "MT4129";
	s->guid = 0xb8e9240300aabb00ULL + index;
	while (!rc && (option = strsep(&rest, ";")))
		rc = parse_option(option, s);
	if (!rc)
		rc = register_standin(s, name);
	if (rc) {
		pr_err("mlx5_ib stand-in: %s: error %d\n", name, rc);
		put_standin(s);
		return rc;
	}
	standins[index] = s;
	return 0;
}

static void remove_all(void)
{
	size_t i;

	for (i = 0; i < DEVICES_MAX; i++) {
		if (!standins[i])
			continue;
		ib_unregister_device(&standins[i]->ib);
		put_standin(standins[i]);
	}
}

static int __init standin_init(void)
{
	int i, rc = 0;

	for (i = 0; i < devices_count && !rc; i++)
		rc = make_standin(i);
	if (rc)
		remove_all();
	return rc;
}

static void __exit standin_exit(void)
{
	remove_all();
}

module_init(standin_init);
module_exit(standin_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("stand-in for mlx5_ib");
/* The real one drives what mlx5_core has bound. */
MODULE_SOFTDEP("pre: mlx5_core");
