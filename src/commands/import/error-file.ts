import { type FileHandle, open } from 'node:fs/promises'

/** The rows that were refused, one JSON object a line, beside the file they came from. */
export interface ErrorFile {
  readonly path: string
  /** Adds text and resolves to the length of the file, in bytes, once it is on disk. */
  append(text: string): Promise<number>
  close(): Promise<void>
}

/** Opens the file of errors, cut off where the state of the import says that it ended. */
export async function openErrorFile(file: string, length: number): Promise<ErrorFile> {
  const path = `${file}.errors.ndjson`
  let handle: FileHandle | undefined
  let size = length
  if (length > 0) {
    handle = await open(path, 'r+')
    await handle.truncate(length)
  }
  return {
    path,
    async append(text) {
      if (text === '') return size
      handle ??= await open(path, 'w')
      const { bytesWritten } = await handle.write(text, size)
      await handle.sync()
      size += bytesWritten
      return size
    },
    close: async () => handle?.close(),
  }
}
