/** The largest number of datagrams in a measurement, sent, received or heard. */
export const MOST_DATAGRAMS = 1_000_000;

/** The most URLs of an assignment, for all checks of a node together: an agent requests each in every interval. */
export const MOST_ASSIGNED_URLS = 50;
