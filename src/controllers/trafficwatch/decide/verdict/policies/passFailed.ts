import { unknown } from '../nodeVerdict.ts';
import type { Policy } from '../policy.ts';

/** Unknown, with the error of the newest pass, if that pass failed. */
export const passFailed: Policy = ({ passError }) => passError && unknown(passError.reason, passError.message);
