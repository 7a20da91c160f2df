import { DataType, load, open } from 'ffi-rs'

const library = 'self'

/** Calls a function of the C library. @returns what it returns, and the number and text of the error */
export function callC(name: string, ...values: (number | Buffer)[]) {
  // The empty path is this program itself, which includes the C library.
  open({ library, path: '' })
  return load<DataType.I64, true>({
    library,
    funcName: name,
    retType: DataType.I64,
    paramsType: values.map((value) => (typeof value === 'number' ? DataType.I64 : DataType.U8Array)),
    paramsValue: values,
    errno: true,
  })
}
