import { findDeletion } from '../accounts/deletion.ts'
import type { Postgres } from '../stores/postgres/connection.ts'
import { CommandError } from './errors.ts'
import { requirePlan } from './plan.ts'

/** @throws CommandError if there is no such plan, or the id was used by a deleted account */
export async function assertCreatable(postgres: Postgres, { id, plan }: { id?: string; plan: string }): Promise<void> {
  await requirePlan(postgres, plan)
  if (id === undefined || !(await findDeletion(postgres, id))) return
  throw new CommandError(`account ${id} was deleted; its id cannot be used again.`)
}
