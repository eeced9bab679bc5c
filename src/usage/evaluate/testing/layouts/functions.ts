import { LOAD, nic, pods, type HostLayout } from './layout.ts';

const TEN = { capacity: '10Gbit' };
const CALI = pods(['cali0a1b2c3d4e5', 'cali1f2e3d4c5b6', 'cali9d8c7b6a5f4']);
const IDLE = { load: 0 };

/** Nodes with virtual functions, sub-functions and representors. */
export const FUNCTION_LAYOUTS: readonly HostLayout[] = [
  {
    ...TEN,
    name: 'SR-IOV with virtual functions on the host',
    why: 'Idle virtual functions report the speed of the physical function that they share.',
    devices: [nic('enp3s0f0', 'i40e'), ...[0, 1, 2, 3].map((n) => nic(`enp3s0f0v${n}`, 'iavf', IDLE)), ...CALI],
    counted: ['enp3s0f0'],
    source: 'https://www.freedesktop.org/software/systemd/man/latest/systemd.net-naming-scheme.html',
  },
  {
    ...TEN,
    name: 'SR-IOV, a port with a name',
    why: 'systemd appends the name of the port to the physical function, and a number to the virtual functions. Both have one driver.',
    devices: [
      nic('ens1f0np0', 'mlx5_core'),
      ...[0, 1, 2, 3].map((n) => nic(`ens1f0v${n}`, 'mlx5_core', IDLE)),
      ...CALI,
    ],
    counted: ['ens1f0np0'],
    source: 'https://www.freedesktop.org/software/systemd/man/latest/systemd.net-naming-scheme.html',
  },
  {
    ...TEN,
    name: 'SR-IOV, the host uses a virtual function',
    why: 'The physical function does not count its traffic, and both share a link.',
    devices: [nic('ens1f0', 'ice', IDLE), nic('ens1f0v0', 'iavf'), nic('ens1f0v1', 'iavf', IDLE), ...CALI],
    counted: ['ens1f0'],
    unknown: { reason: 'AmbiguousUplink', evenWithAnnotation: true },
    source: 'https://docs.kernel.org/networking/device_drivers/ethernet/intel/ice.html',
  },
  {
    ...TEN,
    name: 'Sub-functions',
    why: 'A sub-function and its representor repeat the traffic of the physical function.',
    devices: [
      nic('enp6s0f0np0', 'mlx5_core'),
      nic('enp6s0f0s88', 'mlx5_core', { load: LOAD / 2 }),
      nic('enp6s0f0npf0sf88', 'mlx5e_rep', { load: LOAD / 2 }),
      ...CALI,
    ],
    counted: ['enp6s0f0np0'],
    source: 'https://docs.kernel.org/networking/devlink/devlink-port.html',
  },
  {
    ...TEN,
    name: 'DPU',
    why: 'On the cores of a BlueField, the host and its functions have representors next to the port p0.',
    devices: [
      nic('p0', 'mlx5_core'),
      nic('pf0hpf', 'mlx5e_rep'),
      nic('en3f0pf0sf0', 'mlx5e_rep', IDLE),
      nic('enp3s0f0s0', 'mlx5_core', IDLE),
      ...CALI,
    ],
    counted: ['p0'],
    source: 'https://github.com/MrBr-github/lshca/issues/62',
  },
  {
    ...TEN,
    name: 'SR-IOV, switchdev',
    why: 'Each virtual function has a representor that repeats its traffic.',
    devices: [
      nic('enp3s0f0', 'mlx5_core'),
      ...[0, 1].map((n) => nic(`enp3s0f0_${n}`, 'mlx5e_rep', { load: LOAD / 2 })),
      ...CALI,
    ],
    counted: ['enp3s0f0'],
    source: 'https://docs.kernel.org/networking/representors.html',
  },
];
