/** Why a row is not taken, in one sentence; it goes to the rejects file beside the row. */
export class Refusal extends Error {
  override name = 'Refusal'
}
