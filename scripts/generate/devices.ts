import { DEFAULT_EXCLUDED_DEVICES, VIRTUAL_DRIVERS } from '../../src/usage/evaluate/devices.ts';
import type { HostLayout, LayoutDevice } from '../../src/usage/evaluate/testing/layouts/layout.ts';
import { LAYOUT_GROUPS } from '../../src/usage/evaluate/testing/layouts/layouts.ts';
import type { GeneratedFile } from './file.ts';

const INTRODUCTION = `<!-- Generated from the sources by \`make generate\`. Do not edit. -->

# Which network devices count

The percent of a node is what its devices send, divided by what they can carry. A device that repeats the traffic of
another one must not count beside it, and neither must the interfaces of pods. Each device has a rank. The devices of the
best rank on a node count, the others do not:

1. Physical devices: Ethernet, bonds in place of their slaves, Wi-Fi, USB, and what a cloud provider offers as a NIC.
2. A team whose ports cannot be seen. Otherwise its ports count, and the team does not: nothing shows that a device is a
   port of a team.
3. IP over InfiniBand, where there is no Ethernet.
4. A macvlan, ipvlan or veth: the uplink of a node that is a container itself. Of several, those named as uplinks are
   (eth0) count; else the only macvlan; else the only veth. Otherwise the node is Unknown, reason AmbiguousUplink.

Never counted: lo, bridges, tunnels, VLANs, slaves of a bond, virtual functions of SR-IOV beside their physical function,
and devices whose name is excluded.

## What gives a device away

| Fact | Series | What it shows |
|---|---|---|
| driver | \`node_ethtool_info\` | veth, bridge, tunnel, VLAN, macvlan and others, whatever their names |
| link | \`node_network_iface_link\`, \`_iface_id\` | without a driver: a veth, VLAN or macvlan, whose link is not its own index |
| flags | \`node_network_flags\` | slaves of a bond; without a driver: tunnels, which need no ARP |
| name | label \`device\` | without a driver: bridges, teams, InfiniBand; and what is not even asked for |

The ethtool collector of node-exporter is off by default: \`--collector.ethtool\` enables it, and
\`--collector.ethtool.metrics-include=^$\` keeps it to the drivers. The exporter that the operator deploys has both.
Without it, a bridge, a team or a device of Open vSwitch under a free name counts beside its NIC: the percent stays right,
since speed and traffic count twice, but not with the capacity annotation. MetricsAvailable then says that names alone
protect, and of which nodes.

## Known limits

- Virtual functions that are in pods: the host's counters do not have their traffic.
- Virtual functions under free names, such as eth4, of drivers that are those of the physical function, too
  (mlx5_core): they count as NICs if they are up. Exclude them by name.
- Two NICs of which only one is the uplink: both count, and an idle one lowers the percent. Exclude it by name.
- A team in mode activebackup: all of its ports count. Use the capacity annotation.
- IP over InfiniBand as the uplink beside an Ethernet NIC for management: only the NIC counts. Exclude the NIC by name.
- A node that is a container, with a bridge under a free name, where the exporter reports no drivers: the bridge counts
  in place of eth0. Enable the ethtool collector, or exclude the bridge by name.
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

Names, as a regular expression that matches the whole name:

\`\`\`text
${DEFAULT_EXCLUDED_DEVICES.replaceAll('|', '\n')}
\`\`\`

Beginnings of drivers: ${drivers}.`;
}

function layoutsIntroduction(): string {
  const count = [...LAYOUT_GROUPS.values()].flat().length;
  return `## Layouts

A unit test (src/usage/evaluate/hostLayouts.test.ts) measures each of these ${count} layouts with and without drivers, with and without the
capacity annotation, while the uplink is 95 % full: the percent is from 90 to 100, unless the layout says that it is Unknown. Loads
and speeds are in Gbit/s.`;
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
  return ` Unknown ${expected.evenWithAnnotation ? 'in any case' : 'without the annotation'}, reason ${expected.reason}.`;
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}
