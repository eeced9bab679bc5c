import type { CountedDevice } from './nodeFacts.ts';
import { isUsable } from './speeds.ts';
import { hasTraffic, type Found } from './sums.ts';

/**
 * Whose speed a capacity from the series is. The kernel gives a bond the sum of the speeds of its active slaves, those
 * that are up and that the mode of the bond lets send: with active-backup one of them. In the mode broadcast it is the
 * slowest of them. Source: bond_ethtool_get_link_ksettings and bond_slave_can_tx of Linux,
 * https://github.com/torvalds/linux/blob/master/drivers/net/bonding/bond_main.c
 *
 * | measured devices  | source       |
 * |-------------------|--------------|
 * | at least one bond | ActiveSlaves |
 * | no bond           | Series       |
 */
export function sourceOfSpeeds(measured: readonly CountedDevice[]): 'ActiveSlaves' | 'Series' {
  return measured.some(({ isBond }) => isBond) ? 'ActiveSlaves' : 'Series';
}

/**
 * The first bond that has traffic and no speed. The kernel leaves out a slave whose driver reports no speed or no
 * duplex, so a bond can be without a speed although its slaves have one. The series do not say which slaves may send:
 * the sum of all would be too high if one is a standby.
 *
 * | bond                 | result                                                                |
 * |----------------------|-----------------------------------------------------------------------|
 * | has a speed          | is measured                                                           |
 * | no speed, no traffic | is not measured, as a NIC that is down                                |
 * | no speed, traffic    | the node is not measured: its other devices would hide a full bond    |
 */
export function bondWithoutSpeed(found: Found): string | undefined {
  const isUnmeasured = ({ isBond, speed, name }: CountedDevice): boolean =>
    isBond === true && !isUsable(speed) && hasTraffic(found, name);
  return found.facts.devices.counted.find(isUnmeasured)?.name;
}
