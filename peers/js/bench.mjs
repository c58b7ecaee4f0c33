// Caches of the JavaScript world, for `hotcopy modes`: reads one request as JSON on standard input, and
// prints one JSON document a line: what runs here, the rows of each section when it is measured, notes.
//
// Contenders take turns in rounds and the median round counts, as on the Rust side. Each has loops of its
// own, compiled from source: one loop for all would make the engine look up the cache's class at each call,
// which a program with one cache does not do.

import { readFileSync } from 'node:fs'
import { LRUCache } from 'lru-cache'
import NodeCache from 'node-cache'
import * as tsCache from '@stacksjs/ts-cache'

/** Operations between two looks at the clock. */
const BATCH = 1024

/** Seconds; far beyond any run, so that deadlines are looked at and never met. */
const LONG = 24 * 3600

const versions = JSON.parse(readFileSync(new URL('./package.json', import.meta.url))).dependencies
const request = JSON.parse(readFileSync(0, 'utf8'))
const hasMapMode = 'maxPerformance' in tsCache.DEFAULT_OPTIONS

const sink = {}

const getLoop = read => new Function('cache', 'keys', 'sink', `
  let next = 0
  return count => {
    let last
    for (let i = 0; i < count; i++) {
      last = ${read}
      next = next + 1 === keys.length ? 0 : next + 1
    }
    sink.last = last
  }`)

const setLoop = write => new Function('cache', 'keys', 'values', 'sink', `
  let next = 0
  return count => {
    for (let i = 0; i < count; i++) {
      ${write}
      next = next + 1 === keys.length ? 0 : next + 1
    }
    sink.last = next
  }`)

const tsCacheWith = options => () => new tsCache.Cache(options)
const tsCacheName = `ts-cache ${versions['@stacksjs/ts-cache']}`

const contenders = [
  { contender: 'no-op, JavaScript', family: 'nothing', configuration: 'nothing_on', access: 'none', make: () => new Map() },
  { contender: 'Map', configuration: 'plain', access: 'borrowed', make: () => new Map() },
  { contender: `lru-cache ${versions['lru-cache']}`, configuration: 'plain', access: 'borrowed', make: room => new LRUCache({ max: room }) },
  {
    contender: tsCacheName, configuration: 'nothing_on', access: 'borrowed',
    make: tsCacheWith({ useClones: false, enableStats: false, enableEvents: false, stdTTL: 0, checkPeriod: 0, maxPerformance: true }),
  },
  { contender: tsCacheName, configuration: 'all_on', access: 'borrowed', make: tsCacheWith({ useClones: false, stdTTL: LONG }) },
  { contender: tsCacheName, configuration: 'all_on', access: 'cloned', make: tsCacheWith({ stdTTL: LONG }) },
  { contender: `node-cache ${versions['node-cache']}`, configuration: 'all_on', access: 'cloned', make: () => new NodeCache({ stdTTL: LONG }) },
]

/** Nanoseconds of one operation, over one turn. */
function takeTurn(run) {
  let operations = 0
  let batch = 1
  let elapsed = 0
  while (elapsed < request.round_ms) {
    const started = performance.now()
    run(batch)
    elapsed += performance.now() - started
    operations += batch
    batch = Math.min(batch * 2, BATCH)
  }
  return elapsed * 1e6 / operations
}

function summarize(times) {
  times.sort((a, b) => a - b)
  return { median_ns: times[times.length >> 1], min_ns: times[0], max_ns: times[times.length - 1] }
}

/** As many keys as asked for, looked up in a random order that is long enough for them. */
function keySet(count, value) {
  const keys = Array.from({ length: count }, (_, number) => `session:${String(number).padStart(8, '0')}`)
  const values = keys.map((_, number) => value(number))
  const order = Array.from({ length: count === 1 ? 1 : Math.max(count * 2, 4096) }, () => Math.floor(Math.random() * count))
  return { keys, values, lookups: order.map(number => keys[number]), written: order.map(number => values[number]) }
}

function section(object, count, value) {
  const set = keySet(count, value)
  const measured = contenders.map(({ make, ...about }) => {
    const filled = () => {
      const cache = make(count * 2)
      set.keys.forEach((key, number) => cache.set(key, set.values[number]))
      return cache
    }
    const nothing = about.family === 'nothing'
    const get = getLoop(nothing ? 'keys[next]' : 'cache.get(keys[next])')
    const put = setLoop(nothing ? 'sink.last = values[next]' : 'cache.set(keys[next], values[next])')
    const caches = [filled(), filled()]
    return {
      about: { family: 'java_script', ...about },
      caches,
      get: get(caches[0], set.lookups, sink),
      set: put(caches[1], set.lookups, set.written, sink),
      gets: [],
      sets: [],
    }
  })
  // The first round warms up the compiler, and is forgotten.
  for (let round = 0; round <= request.rounds; round++) {
    for (const it of measured) {
      const times = [takeTurn(it.get), takeTurn(it.set)]
      if (round > 0) {
        it.gets.push(times[0])
        it.sets.push(times[1])
      }
    }
  }
  // Caches with a timer would keep the process alive.
  measured.forEach(it => it.caches.forEach(cache => cache.close?.()))
  return measured.map(it => ({ ...it.about, object, keys: count, get: summarize(it.gets), set: summarize(it.sets) }))
}

/** A flat object of about 100 bytes as JSON: what such caches hold where Rust would hold bytes. */
const small = number => ({
  id: number,
  user: `user-${number % 1000}@shop.example`,
  roles: 'reader,editor',
  locale: 'en-GB',
  signedInAt: 1767323045000,
})

const print = line => console.log(JSON.stringify(line))

print({ runtime: process.versions.bun ? `bun ${process.versions.bun}` : `node ${process.version}` })
if (!hasMapMode) {
  print({ note: `${tsCacheName}, the newest release, has no ultra-fast mode (maxPerformance): with nothing on it still looks at deadlines, counts and emits events. That mode keeps its entries in a Map, which has a row of its own.` })
}
for (const count of request.keys) {
  print({ rows: section('small', count, small) })
}
print({ rows: section('large', 1, () => request.large) })
