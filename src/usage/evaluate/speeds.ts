/** Bytes per second of 1 Mbit/s. The kernel reports speeds in Mbit/s, node_exporter in bytes per second. */
const BYTES_PER_MBIT = 125_000;
/** SPEED_UNKNOWN in the 16 bits of the old `struct ethtool_cmd`, in bytes per second. */
const UNKNOWN_OF_16_BITS = 65_535 * BYTES_PER_MBIT;
/** Bytes per second: 25.6 Tbit/s, a bond of 16 slaves with the fastest Ethernet of 2026, 1.6 Tbit/s (IEEE 802.3dj). */
export const FASTEST = 16 * 1_600_000 * BYTES_PER_MBIT;

/**
 * True if a speed in bytes per second can be the speed of a link. Any other speed means that the speed is unknown.
 *
 * | reported by the kernel | bytes per second | what it is                                                          |
 * |------------------------|------------------|---------------------------------------------------------------------|
 * | -1                     | -125000          | SPEED_UNKNOWN: a NIC that is down                                   |
 * | 0                      | 0                | a virtual device                                                    |
 * | 65535                  | 8.191875e9       | SPEED_UNKNOWN of an old driver, in 16 bits                          |
 * | 4294967295             | 5.36870911875e14 | SPEED_UNKNOWN in 32 bits: node_exporter with `--collector.netclass.netlink` |
 * | above 25.6 Tbit/s      | above 3.2e12     | an error of the driver                                              |
 *
 * Source: SPEED_UNKNOWN in include/uapi/linux/ethtool.h of Linux,
 * https://github.com/torvalds/linux/blob/master/include/uapi/linux/ethtool.h
 */
export function isUsable(speed: number | undefined): speed is number {
  // NaN is not above 0, and infinity is above FASTEST.
  return speed !== undefined && speed > 0 && speed <= FASTEST && speed !== UNKNOWN_OF_16_BITS;
}

/** PromQL: the usable ones of a vector of speeds. The same rule as `isUsable`. */
export function usableSpeeds(vector: string): string {
  return `${vector} > 0 <= ${FASTEST} != ${UNKNOWN_OF_16_BITS}`;
}

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
export function sourceOfSpeeds(measured: readonly { readonly isBond?: true | undefined }[]): 'ActiveSlaves' | 'Series' {
  return measured.some(({ isBond }) => isBond) ? 'ActiveSlaves' : 'Series';
}
