/**
 * Makes a function that works out once what follows from an object that never changes. After a pass every TrafficWatch
 * comes with the same nodes and figures: what follows from those alone is the same for all of them.
 */
export function once<Given extends object, Result>(workOut: (given: Given) => Result): (given: Given) => Result {
  const known = new WeakMap<Given, { readonly result: Result }>();
  return (given) => {
    const before = known.get(given);
    if (before !== undefined) return before.result;
    const result = workOut(given);
    known.set(given, { result });
    return result;
  };
}
