import {
  BRIDGE_NAME,
  DEFAULT_EXCLUDED_DEVICES,
  VIRTUAL_DRIVERS,
  VLAN_NAME,
} from '../../../../usage/evaluate/devices/devices.ts';
import { usableSpeeds } from '../../../../usage/evaluate/speeds.ts';
import type { MeasurementOptions } from '../../options.ts';
import { renderRules } from './rule.ts';
import type { RecordingRule } from './rule.ts';

/** Number of scrapes in the range of a rate, as the operator's default. */
const SCRAPES_PER_WINDOW = 4;
const EXPORTER = 'job="node-exporter"';
/** Tests the flag IFF_SLAVE, 0x800; PromQL has no bit operations. */
const SLAVES = `floor(node_network_flags{${EXPORTER}} / 2048) % 2 == 1`;

const RATIO = 'node:traffic_operator_bandwidth:ratio';
const FROM_OPERATOR = 'max by (node) (traffic_operator_node_bandwidth_ratio)';

/**
 * Renders the recording rules for the bandwidth use of each node. If the operator is scraped, they use its ratio: computing
 * the ratio from the series of 10,000 exporters takes seconds of each evaluation, and a third of the memory.
 */
export function renderRecordingRules({
  prometheus,
  operatorMetrics,
}: Pick<MeasurementOptions, 'operatorMetrics'> & {
  prometheus: Pick<MeasurementOptions['prometheus'], 'scrapeIntervalSeconds'>;
}): string {
  const rules = operatorMetrics ? [OPERATORS] : exportersRules(SCRAPES_PER_WINDOW * prometheus.scrapeIntervalSeconds);
  return renderRules('Bandwidth use of the nodes, a ratio from 0 to 1.', [{ name: 'node-bandwidth', rules }]);
}

const OPERATORS: RecordingRule = {
  record: RATIO,
  why: 'The figure that decides the verdicts, capacity annotations included.',
  expr: FROM_OPERATOR,
};

function exportersRules(windowSeconds: number): RecordingRule[] {
  return [
    {
      record: 'node_device:node_network_transmit_bytes:rate',
      why: 'The devices that count. Excluded are names of container networks, slaves of a bond, virtual drivers and devices\non top of another device. The operator checks in the same order (docs/devices.md).',
      expr: transmitRate(windowSeconds),
    },
    {
      record: 'node_device:node_network_speed_bytes:known',
      why: 'A device that is down reports -125000 or 5.4e14, some virtual devices report 0 (docs/devices.md).',
      expr: usableSpeeds(`node_network_speed_bytes{${EXPORTER}}`),
    },
    {
      record: 'node:node_network_transmit:ratio',
      why: 'The figure of the operator, except that it ignores capacity annotations, custom device patterns and a veth that is\nthe only uplink: these facts are not in Prometheus.',
      expr: `sum by (node) (${RATE} and on (node, device) ${SPEED})
/
sum by (node) (${SPEED} and on (node, device) ${RATE})`,
    },
    {
      record: RATIO,
      why: "The operator's own figure takes precedence: it decides the verdicts, capacity annotations included. If its metrics\nare not scraped, the figure from the exporter's series is used.",
      expr: `${FROM_OPERATOR}
or
node:node_network_transmit:ratio`,
    },
  ];
}

const RATE = 'node_device:node_network_transmit_bytes:rate';
const SPEED = 'node_device:node_network_speed_bytes:known';

function transmitRate(windowSeconds: number): string {
  const names = quoted(`lo|${DEFAULT_EXCLUDED_DEVICES}|${BRIDGE_NAME}|${VLAN_NAME}`);
  const drivers = quoted(`(?i:${VIRTUAL_DRIVERS.map((driver) => driver.replaceAll('.', '\\.')).join('|')}).*`);
  // A counter that was reset to 0 has no rate until the window has passed: the slope is negative.
  return `deriv(node_network_transmit_bytes_total{${EXPORTER},device!~${names}}[${windowSeconds}s]) >= 0
unless on (node, device)
  (${SLAVES})
unless on (node, device)
  node_ethtool_info{${EXPORTER},driver=~${drivers}}
unless on (node, device)
  (
      (node_network_iface_link{${EXPORTER}} != node_network_iface_id{${EXPORTER}})
    unless on (node, device)
      node_ethtool_info{${EXPORTER},driver!=""}
  )`;
}

function quoted(pattern: string): string {
  return JSON.stringify(pattern);
}
