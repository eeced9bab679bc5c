/** The API group of all kinds of the operator. Without zod, so that naming a kind loads no schema. */
export const GROUP = 'traffic.example.com';
