import { DEFAULT_EXCLUDED_DEVICES, VIRTUAL_DRIVERS } from '../../src/usage/evaluate/devices/devices.ts';
import type { HostLayout, LayoutDevice } from '../../src/usage/evaluate/testing/layouts/layout.ts';
import { LAYOUT_GROUPS } from '../../src/usage/evaluate/testing/layouts/layouts.ts';
import type { GeneratedFile } from './file.ts';

const INTRODUCTION = `<!-- Generated from the sources by \`make generate\`. Do not edit. -->

# Which network devices count

The percent of a node is the traffic that its devices send, divided by their capacity. A device that repeats the traffic
of another device must not count in addition to it, and pod interfaces must not count. Each device has a rank. Only the
devices of the best rank on a node count:

1. Physical devices: Ethernet, bonds instead of their slaves, Wi-Fi, USB, and the NICs of cloud providers.
2. A team without visible ports. If its ports are visible, they count and the team does not: no metric shows that a
   device is a port of a team.
3. IP over InfiniBand, on a node without Ethernet.
4. A macvlan, ipvlan or veth: the uplink of a node that is itself a container. If there are several, the devices with
   the name of an uplink (eth0) count; else a single macvlan; else a single veth. Otherwise the node is Unknown with the
   reason AmbiguousUplink.

These never count: lo, bridges, tunnels, VLANs, slaves of a bond, SR-IOV virtual functions and their representors next to
their physical function, and devices with an excluded name.

## Bonds

A bond counts, and its slaves do not. Its speed is the capacity of its active slaves: the kernel adds up the speeds of the
slaves that are up and that the mode of the bond lets send
([bond_ethtool_get_link_ksettings](https://github.com/torvalds/linux/blob/master/drivers/net/bonding/bond_main.c)).
\`status.nodes.*.capacitySource\` is \`ActiveSlaves\` then, also if other devices of the node count as well.

| Bond of two 10 Gbit/s slaves | Speed of the bond | The node |
|---|---|---|
| 802.3ad, balance-rr, balance-xor, balance-tlb, balance-alb | 20 Gbit/s | measured |
| the same, one slave has lost its link, or is in another aggregator | 10 Gbit/s | measured; \`CapacityFell\` if only that makes it unfit |
| active-backup | 10 Gbit/s: the standby does not send | measured |
| broadcast | 10 Gbit/s: the slowest slave | the percent is up to 200: the counter of the bond adds up the copies that each slave sends. With more than two slaves, a rate [above 200 %](#rates-that-cannot-be) is an \`InvalidSample\` |
| one slave reports no speed or no duplex | 10 Gbit/s | the percent is too high rather than too low |
| no active slave reports a speed and a duplex | unknown | Unknown (\`NoCapacity\`) while the bond has [real traffic](#devices-without-a-speed), even if another device of the node has a speed |
| no slave is up | unknown | the bond is not measured, other devices are |

A bond can be without a speed although its slaves have one: the kernel leaves out a slave whose driver reports no duplex. The
operator does not add up the slaves itself. The series do not say which of them may send, and the sum of all would be too
high if one is a standby. For such a bond, and in mode broadcast, state the capacity: \`spec.capacity\` or the annotation, in
mode broadcast the speed times the number of slaves. Older kernels report the sum of all slaves in mode broadcast, which fits
the counter.

## Speeds that are unknown

A speed that cannot be the speed of a link is unknown, also among the speeds of the last hour for \`CapacityFell\`. The
message of \`NoCapacity\` quotes it as the exporter reports it.

| \`node_network_speed_bytes\` | Mbit/s | What it is |
|---|---|---|
| -125000 | -1 | \`SPEED_UNKNOWN\` of the kernel ([ethtool.h](https://github.com/torvalds/linux/blob/master/include/uapi/linux/ethtool.h)): the link is down |
| 0 | 0 | a virtual device |
| 5.36870911875e+14 | 4294967295 | \`SPEED_UNKNOWN\` in 32 bits: node_exporter with \`--collector.netclass.netlink\`, as on OpenShift and AKS |
| 8.191875e+09 | 65535 | \`SPEED_UNKNOWN\` in 16 bits, of old drivers |
| above 3.2e+12 | above 25.6 Tbit/s | an error of the driver: the fastest Ethernet is 1.6 Tbit/s, and the bound allows a bond of 16 |

## Facts of large clusters

Above 20,000 series of devices, about 1,000 nodes, passes reuse the speeds, flags and other facts of all devices. The operator reads them again once a minute,
and at once for a new node. While reads fail, it uses the facts until five minutes after their read began. Then passes fail, and labels stay. Counters, and how
old their samples are, are asked for with each pass and about every 5 s ([late samples](existing-prometheus.md#late-samples)). Until the facts are read again:

| Change | The percent of the node |
|---|---|
| a link is slower | is too low: 10 % instead of 100 % for a link that fell from 10 to 1 Gbit/s |
| a link is faster | is too high, or missing above the [highest rate](#rates-that-cannot-be) |
| a NIC has another name | is missing: the NIC has no rate under its old name, and no counter under its new one |
| a NIC was removed | is missing once the rate window has passed |

## Devices without a speed

A device that counts and has no usable speed hides a full link if only the other devices are measured. Its rate in the
\`direction\` of the TrafficWatch decides, with \`measure: Sum\` and with \`Fullest\`. A stated capacity includes every device.

| Rate | The node |
|---|---|
| below 10 Mbit/s, and below 1 % of the sum of the known speeds | the device is not measured, the others are: a NIC that is down, or the USB NIC of a BMC |
| 10 Mbit/s or more, or 1 % of the known speeds or more | Unknown (\`NoCapacity\`). The message names the device. State the capacity, or exclude the device with \`spec.devices\` |

A link that goes down under load has a rate until the rate window has passed; the node is Unknown until then.

## Devices without a rate

A device that counts and has no rate in the \`direction\` of the TrafficWatch may be full. Its speed decides. With a stated capacity, every
device needs a rate.

| Speed | The node |
|---|---|
| below 1 % of the speeds of the devices with a rate | the device is not measured, the others are |
| unknown, and the device is switched off (no \`IFF_UP\`) | the same |
| any other | Unknown (\`StaleSamples\`). The message names the device and the series to look at |

A new device has a rate after two scrapes; the node is Unknown until then.

## NICs without a counter

A NIC whose speed, flags or driver Prometheus has, and whose counter it lacks, has traffic that nobody knows. The node is Unknown (\`StaleSamples\`), and
the message names the NIC.

| Why the counter is missing | What to do |
|---|---|
| A store with shards (VictoriaMetrics, Thanos Receive) lost one, and answers with a part | Restore it. The figure is back with the series |
| node-exporter is in the network of a pod and reads \`/sys\` of the host | Run it with \`hostNetwork\` ([existing-prometheus.md](existing-prometheus.md#an-exporter-without-hostnetwork)) |
| \`--collector.netdev.device-exclude\` or \`-include\` of node-exporter leaves the NIC out on purpose | Exclude it by the same pattern: \`--device-exclude\` (chart: \`deviceExclude\`), or \`spec.devices.exclude\` of the TrafficWatch. |

It is a NIC if it is switched on (\`node_network_flags\`, or without these a usable speed) and has the driver of a NIC or of a bond, the name of hardware
such as \`eno1\`, or a name such as \`eth0\` and its own index as \`node_network_iface_link\`. It does not matter if its speed is below 1 % of the speeds of
the measured devices and no capacity is stated, or if it would not count with a counter either: slaves of a bond, virtual functions, excluded names.

A device with a name such as \`eth1\` or \`eno1\`, of which Prometheus has only a rate, with [real traffic](#devices-without-a-speed), also makes the node
Unknown: it is new, or was removed within the rate window. So a node of Azure without the driver \`hv_netvsc\` in the series (\`--collector.ethtool\` of node-exporter;
AKS has it off) has no figure for one rate window after its virtual function is removed, as when the virtual machine moves. Its traffic never counts twice.
With the driver, the node stays measured.

## Failover devices

A failover device of virtio (\`net_failover\`) repeats the traffic of its slaves, which have no flag of a slave. The standby has the name of the failover device
and \`nsby\` (\`ens3nsby\`), and does not count. Nothing shows the virtual function: the node is Unknown (\`AmbiguousUplink\`) while another device would
count next to the failover device, and the message says which to exclude with \`spec.devices\`.

## Rates that cannot be

A counter may jump, as when a device is created again under its name. A node with a rate that no link can carry, of a device that
counts, is Unknown (\`InvalidSample\`), and the message names the device. A counter that steps back a little changes no rate, and one that
begins again gives none ([late samples](existing-prometheus.md#late-samples)). Each direction that the TrafficWatch uses is compared alone.

| Speed of the device | Stated capacity | Highest rate |
|---|---|---|
| known | none, or lower than the speed | 125 % of the speed, of a bond 200 % |
| known | higher than the speed | 125 % of the stated capacity, of a bond 200 %: the 10 Gbit/s of a veth, for example, are only nominal |
| unknown | any | 25.6 Tbit/s |

No link carries more than its speed. But a full link delays scrapes, and a sample has the time at which its scrape begins: if the last two of four scrapes
are read 60 % of the scrape interval late, the rate is 24 % too high. A limit of 110 % would take the figure from nodes that are full. The
counter of a bond may be right up to twice the speed of the bond: [in mode broadcast, or if a slave reports no speed](#bonds), and because a standby
also receives. The operator does not detect a jump that gives a lower rate: the percent is too high until the rate window has passed.

After a jump of a counter, or if a link became much slower under load, this ends when the rate window has passed. If it does
not end, the device carries more than its speed says: state the capacity, or exclude the device with \`spec.devices\`.

## Virtual functions with traffic

A virtual function does not count next to its physical function: both share a link, and an idle one would lower the percent. Most drivers do not
count its traffic for the physical function. So a virtual function or sub-function of the host may hide traffic; the functions of one physical function are
added up.

| Traffic of the functions | Physical function | The node |
|---|---|---|
| below 1 % of the speed of the physical function | any | measured without them |
| 1 % or more | has as much traffic: it counts theirs | measured without them |
| 1 % or more | has less traffic | Unknown (\`AmbiguousUplink\`), also with a stated capacity |
| 1 % or more | no name shows it, only the drivers (\`iavf\` next to \`ice\`): it may be another card | Unknown (\`AmbiguousUplink\`), also with a stated capacity |

If the function is an uplink of the node, exclude the physical function with \`--device-exclude\` (chart: \`deviceExclude\`): then the function counts. Otherwise exclude the function with \`spec.devices.exclude\`. Representors, and functions next to the port of a BlueField, are left out in any case: their traffic may
stay on the host.

## How the operator recognizes a device

| Fact | Series | What it shows |
|---|---|---|
| driver | \`node_ethtool_info\` | bond, veth, bridge, tunnel, VLAN, macvlan and others, under any name |
| link | \`node_network_iface_link\`, \`_iface_id\` | a veth, VLAN or macvlan, because its link differs from its own index |
| flags | \`node_network_flags\` | slaves of a bond; without a driver: bonds; and tunnels, because they need no ARP |
| name | label \`device\` | SR-IOV functions, and the standby of a failover device; without a driver: bridges, teams, InfiniBand, and NICs without ARP (IBM Z, modems); and devices that the queries leave out |

With the driver of a NIC, flags of a tunnel and links do not matter. A driver that is in no list of the operator may belong to
a tunnel: flags and link decide, as without a driver.

The ethtool collector of node-exporter is off by default. Enable it with \`--collector.ethtool\`, and limit it to the
drivers with \`--collector.ethtool.metrics-include=^$\`. The exporter that the operator deploys has both flags. Without the
collector, a bridge, a team or an Open vSwitch device with an arbitrary name counts in addition to its NIC: exclude it by
name. MetricsAvailable then reports that only names exclude devices, and lists the nodes.

## Series that are missing

Lists of metrics to keep often drop these series:
[OpenShift's profile minimal](https://github.com/openshift/cluster-monitoring-operator/blob/main/assets/node-exporter/minimal-service-monitor.yaml)
keeps none of them. A missing series is no proof. Where it leaves open whether a device repeats the traffic of another, the
node is Unknown (\`AmbiguousUplink\`), also with a stated capacity. The message names the series to keep. A node with one device
that counts is measured.

| Missing | Unknown are nodes with several devices that count, of which |
|---|---|
| \`node_network_flags\` | one is a bond, by its driver or the name \`bond0\`, or the synthetic device of Azure (\`hv_netvsc\`): the others may be its slaves |
| \`node_network_flags\` | one has neither the driver nor the name of a NIC, such as \`eno1\` or \`enp3s0f0\`: it may be a bond or a tunnel. \`eth0\` may be the synthetic device of Azure |
| \`node_network_iface_link\`, \`node_network_iface_id\` | one has neither the driver nor the name of a NIC, such as \`eno1\` or \`eth0\`: it may be the interface of a pod, or a VLAN |
| \`node_ethtool_info\` | one has no speed while a device named \`br-…\` may be a NIC: with \`exchangeLinkName\`, Kube-OVN gives the bridge the name of the NIC, and the NIC the name \`br-…\` |
| \`node_network_speed_bytes\` | none. Nodes without a stated capacity are Unknown (\`NoCapacity\`) |

Each layout below is also tested without each combination of flags, link and speed, and without the counter of each device that counts: its percent is
from 90 to 100, or it has none.

## Known limits

- Virtual functions in pods: the counters of the host do not include their traffic, and often the physical function does not either.
- RDMA and RoCE, and a NIC that DPDK or VPP has taken over: the kernel does not count their traffic, so a full link reads low. Do not let a
  TrafficWatch decide about such nodes.
- XDP that sends packets out again (\`XDP_TX\`, as Cilium's native acceleration of load balancers does): many drivers, such as mlx5, count them apart, in
  \`ethtool -S\`, and not in the counters of the device. A node that forwards much in this way reads low.
- Flows that a NIC forwards by itself (hardware offload of nftables or Open vSwitch): some drivers do not count them. A node that forwards much in this way
  reads low.
- Clouds throttle a virtual machine below the speed that its NIC reports: an EC2 or Azure NIC reports 10 to 100 Gbit/s whatever the size of the
  machine. State the capacity of the machine type ([trafficwatch.md](trafficwatch.md#the-capacity-of-a-node)).
- A bond counts as one device, also with \`measure: Fullest\`: one full and one idle slave are 50 %.
- A kernel of 32 bits counts to 4 GiB and begins again, every 34 s at 1 Gbit/s: the percent is too low or missing. Such nodes cannot be measured.
- Virtual functions with arbitrary names, such as eth4, and the same driver as the physical function (mlx5_core): they
  count as NICs if they are up. Exclude them by name.
- A failover device (\`net_failover\`) without its driver in the series and without a standby that is named after it: its slaves count in addition to it. Enable
  the ethtool collector.
- Dashboards, and the recording rules for clusters whose operator is not scraped, leave out every device named \`br-…\`.
- Two NICs with only one uplink: both count, and the idle one lowers the percent. Exclude it by name.
- A team in mode activebackup: all its ports count. Use the capacity annotation.
- IP over InfiniBand as the uplink, with an Ethernet NIC for management: only the NIC counts. Exclude the NIC by name.
- A node that is a container, with a bridge under an arbitrary name, if the exporter reports no drivers: the bridge counts
  instead of eth0. Enable the ethtool collector, or exclude the bridge by name.
`;

/** docs/devices.md: the rules, and the layouts that the unit tests measure. */
export function devicesPage(): GeneratedFile[] {
  const groups = [...LAYOUT_GROUPS].map(([title, layouts]) => `### ${title}\n\n${layouts.map(section).join('\n\n')}`);
  const content = [INTRODUCTION.trimEnd(), names(), layoutsIntroduction(), ...groups].join('\n\n');
  return [{ path: 'docs/devices.md', content: `${content}\n` }];
}

function names(): string {
  const drivers = VIRTUAL_DRIVERS.map((driver) => `\`${driver}\``).join(', ');
  return `## Names and drivers that are excluded

Excluded names, a regular expression that must match the whole name:

\`\`\`text
${DEFAULT_EXCLUDED_DEVICES.replaceAll('|', '\n')}
\`\`\`

Excluded drivers, by the start of the name: ${drivers}.`;
}

function layoutsIntroduction(): string {
  const count = [...LAYOUT_GROUPS.values()].flat().length;
  return `## Layouts

In each of these ${count} layouts, with and without drivers and with and without the capacity annotation, a node whose uplink is
95 % full has a percent from 90 to 100, unless the layout is marked Unknown. Loads and speeds are in Gbit/s.`;
}

function section(layout: HostLayout): string {
  const { name, why, devices, capacity, source } = layout;
  const rows = devices.map((device) => row(device, layout));
  const table = [line(['Device', 'Driver', 'Speed', 'Sends', 'Counts']), '|---|---|---|---|---|', ...rows].join('\n');
  const from = source === undefined ? '' : ` Source: <${source}>.`;
  return `#### ${name}\n\n${why} Annotation: \`${capacity}\`.${unknown(layout)}${from}\n\n${table}`;
}

function row({ name, driver, speed, load }: LayoutDevice, { counted, idle = [] }: HostLayout): string {
  const speedText = speed === undefined ? 'unknown' : speed < 0 ? 'down' : String(speed);
  const counts = counted.includes(name) ? 'yes' : idle.includes(name) ? 'with the annotation' : '';
  return line([`\`${name}\``, driver, speedText, String(Math.round(load * 100) / 100), counts]);
}

function unknown({ unknown: expected }: HostLayout): string {
  if (expected === undefined) return '';
  const { reason, evenWithAnnotation, onlyWithoutDrivers } = expected;
  const unless = evenWithAnnotation ? [] : ['the annotation'];
  const without = [...unless, ...(onlyWithoutDrivers ? ['drivers'] : [])].join(' or ');
  return ` Unknown ${without === '' ? 'in any case' : `without ${without}`}, reason ${reason}.`;
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}
