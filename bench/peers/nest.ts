import 'reflect-metadata'
import {
  type ArgumentsHost,
  Body,
  type CanActivate,
  Catch,
  Controller,
  type ExceptionFilter,
  type ExecutionContext,
  Get,
  Headers,
  HttpCode,
  Module,
  Param,
  Patch,
  Post,
  Put,
  Req,
  Res,
  UseFilters,
  UseGuards,
} from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import jwt from 'jsonwebtoken'
import { created, entityTag, failure, listed, listQuery, type SpeciesRow, shown } from './species.ts'
import { create, patch, Refusal, readList, readOne, replace } from './store.ts'

// NestJS, as it comes (on Express), and Prisma, written by hand for the one resource.

/** What is used of Express. */
interface Request {
  readonly method: string
  readonly originalUrl: string
  readonly headers: Record<string, string | undefined>
}
interface Response {
  status(code: number): Response
  set(headers: Record<string, string>): Response
  json(body: object): void
}

const key = process.env['JWT_SECRET'] as string
const baseOf = ({ headers }: Request) => `http://${headers['host']}/api/v1`
const describe = (response: Response, row: SpeciesRow) =>
  response.set({ ETag: entityTag(row), 'Last-Modified': row.last_updated.toUTCString() })

class ScopeGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { method, headers } = context.switchToHttp().getRequest<Request>()
    const needed = method === 'GET' ? '*:read' : '*:write'
    if (scopesOf(headers['authorization'] ?? '').includes(needed)) return true
    throw new Refusal(403, 'ACCESS_DENIED', `This needs the scope ${needed}.`)
  }
}

function scopesOf(authorization: string): string[] {
  try {
    const claims = jwt.verify(authorization.slice('Bearer '.length), key, { algorithms: ['HS256'] })
    return String((claims as jwt.JwtPayload)['scope']).split(' ')
  } catch {
    throw new Refusal(401, 'AUTHENTICATION_REQUIRED', 'Send an access token.')
  }
}

const FAULT = { status: 500, body: failure('INTERNAL_ERROR', 'Internal error.') }

@Catch()
class RefusalFilter implements ExceptionFilter {
  catch(error: unknown, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<Response>()
    if (!(error instanceof Refusal)) console.error(error)
    const { status, body } = error instanceof Refusal ? error : FAULT
    response.status(status).json(body)
  }
}

@Controller('api/v1/species')
@UseGuards(new ScopeGuard())
@UseFilters(new RefusalFilter())
class SpeciesController {
  @Get()
  async list(@Req() request: Request): Promise<object> {
    const query = listQuery(new URLSearchParams(request.originalUrl.split('?')[1] ?? ''))
    if (!query) throw new Refusal(400, 'INVALID_QUERY_PARAMETER', 'The query is not valid.')
    const [total, rows] = await readList(query)
    return listed(rows, total, query, baseOf(request))
  }

  @Get(':id')
  async read(
    @Param('id') id: string,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<object | undefined> {
    const row = await readOne(id)
    describe(response, row)
    if (request.headers['if-none-match'] !== entityTag(row)) return shown(row, baseOf(request))
    response.status(304)
    return undefined
  }

  @Post()
  async create(
    @Body() body: unknown,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<object> {
    const row = await create(body)
    describe(response, row).set({ Location: `${baseOf(request)}/species/${row.id}` })
    return created(row, baseOf(request))
  }

  @Put(':id')
  @HttpCode(204)
  async replace(
    @Param('id') id: string,
    @Body() body: unknown,
    @Headers('if-match') ifMatch: string | undefined,
    @Res({ passthrough: true }) response: Response,
  ): Promise<void> {
    describe(response, await replace(id, body, ifMatch))
  }

  @Patch(':id')
  @HttpCode(204)
  async patch(
    @Param('id') id: string,
    @Body() body: unknown,
    @Headers('if-match') ifMatch: string | undefined,
    @Res({ passthrough: true }) response: Response,
  ): Promise<void> {
    describe(response, await patch(id, body, ifMatch))
  }
}

@Module({ controllers: [SpeciesController] })
class AppModule {}

const app = await NestFactory.create(AppModule, { logger: ['error'] })
await app.listen(Number(process.env['PORT']), '127.0.0.1')
