-- Write locks of one site (DAV-90): searching and changing in one step.
--
-- KEYS[1]  what all keys begin with, the site in braces, so that they lie in one slot of a cluster
-- ARGV[1]  operation; ARGV[2]  unix milliseconds, empty for the time of this server; then the operation's own
--
--   :lock:<token>   hash: path, scope, depth, owner, user, expires (unix milliseconds)
--   :at:<path>      tokens of the locks on this very path, in the order in which they were taken
--   :paths          all locked paths in byte order, for the search below a collection
--   :exclusive      those of exclusive locks: a shared lock has to look for nothing else
--   :expiry         "<token> <path>" by the time at which the lock is to be looked at for removal
--   :hold:<token>   requests that keep the lock alive, by the time until which they have said so
--   :further        hash: as how many further locks one counts that takes much, by token; and the sum of these
--   :given-up:<token>  there when whoever asked for the lock has been told that it cannot be had
--
-- What looks below a path stops after so many, as Redis does nothing else meanwhile: it returns what it has found, and where it
-- is to go on, which is empty at the end.
--
-- Paths have no slash at their end; the root is empty. Entries of indexes may have outlived their lock: whether a lock
-- is in effect is read from its record alone.

local base = KEYS[1]
local time = redis.call('TIME')
local real = time[1] * 1000 + math.floor(time[2] / 1000)
local now = tonumber(ARGV[2]) or real

local PATHS = base .. ':paths'
local EXCLUSIVE = base .. ':exclusive'
local EXPIRY = base .. ':expiry'
local FURTHER = base .. ':further'

-- Milliseconds after which keys that nobody touches vanish: longer than any lock lives without being touched.
local KEPT = 86400000
-- Entries fetched at once from an index.
local CHUNK = 100
-- Expired locks removed at once, so that nobody waits long for it.
local SWEPT = 1000
-- Paths that one look goes through, and locks that it finds, before others have their turn.
local LOOKED = 500
-- Bytes that a lock may take before it counts as another one. Indexes hold its path as often as its record does.
local LOCK_BYTES = 2048
local PATH_COPIES = 6
-- Milliseconds after which it is forgotten that a lock was given up: by then no command is on its way any more.
local FORGOTTEN = 60000

local function lock_key(token) return base .. ':lock:' .. token end
local function at_key(path) return base .. ':at:' .. path end
local function hold_key(token) return base .. ':hold:' .. token end
local function given_up_key(token) return base .. ':given-up:' .. token end

local function keep(...)
  for _, key in ipairs({ ... }) do redis.call('PEXPIRE', key, KEPT) end
end

local function keep_lock(token, path)
  keep(lock_key(token), at_key(path), PATHS, EXCLUSIVE, EXPIRY, FURTHER, base .. ':taken')
end

-- Unix milliseconds by this server until which requests keep a lock alive, or nil.
local function held_until(token)
  local last = redis.call('ZREVRANGE', hold_key(token), 0, 0, 'WITHSCORES')
  local moment = tonumber(last[2])
  return moment and moment > real and moment or nil
end

-- The lock of a token, or nil when none is in effect.
local function find(token)
  local values = redis.call('HMGET', lock_key(token), 'path', 'scope', 'depth', 'user', 'expires')
  if not values[1] then return nil end
  if tonumber(values[5]) <= now and not held_until(token) then return nil end
  return { token = token, path = values[1], scope = values[2], depth = values[3], user = values[4], expires = values[5] }
end

local function tell(lock)
  local values = redis.call('HMGET', lock_key(lock.token), 'name', 'owner')
  return { lock.token, values[1], lock.scope, lock.depth, values[2], lock.user, lock.expires }
end

local function tell_all(locks)
  local told = {}
  for i, lock in ipairs(locks) do told[i] = tell(lock) end
  return told
end

local function drop(token, path)
  -- Kept as long as the lock is among those that are counted, which its own record may not be.
  local further = redis.call('HGET', FURTHER, token)
  if further then
    redis.call('HDEL', FURTHER, token)
    redis.call('HINCRBY', FURTHER, 'sum', -further)
  end
  redis.call('DEL', lock_key(token), hold_key(token))
  redis.call('ZREM', EXPIRY, token .. ' ' .. path)
  -- A process of an earlier release, which counts locks alone, leaves the sum as it was.
  if redis.call('EXISTS', EXPIRY) == 0 then redis.call('DEL', FURTHER) end
  redis.call('ZREM', at_key(path), token)
  if redis.call('EXISTS', at_key(path)) == 0 then
    redis.call('ZREM', PATHS, path)
    redis.call('ZREM', EXCLUSIVE, path)
  end
end

-- Returns whether more may have expired.
local function sweep()
  local entries = redis.call('ZRANGEBYSCORE', EXPIRY, '-inf', now, 'LIMIT', 0, SWEPT)
  for _, entry in ipairs(entries) do
    local token, path = entry:match('^(%S+) (.*)$')
    local moment = held_until(token)
    -- Looked at again when the hold may have ended.
    if moment then redis.call('ZADD', EXPIRY, now + moment - real, entry) else drop(token, path) end
  end
  return #entries == SWEPT
end

local function add_at(path, found, fits)
  for _, token in ipairs(redis.call('ZRANGE', at_key(path), 0, -1)) do
    local lock = find(token)
    if lock and fits(lock) then found[#found + 1] = lock end
  end
end

local function any() return true end
local function is_deep(lock) return lock.depth == 'infinity' end
local function is_exclusive(lock) return lock.scope == 'exclusive' end

-- Locks in whose scope a path lies, outermost first.
local function locks_on(path)
  local found = {}
  local slash = path:find('/', 1, true)
  while slash do
    add_at(path:sub(1, slash - 1), found, is_deep)
    slash = path:find('/', slash + 1, true)
  end
  add_at(path, found, any)
  return found
end

local function begins(text, start) return text:sub(1, #start) == start end

-- Calls `visit` with the entries of an index below a path in order, until it returns true. It may return how those begin that
-- are passed over. Returns where to go on, which is empty at the end.
local function each_below(index, path, from, visit)
  local to = '(' .. path .. '0'
  if from == '' then from = '[' .. path .. '/' end
  local passed = nil
  while true do
    local entries = redis.call('ZRANGEBYLEX', index, from, to, 'LIMIT', 0, CHUNK)
    if #entries == 0 then return '' end
    for _, entry in ipairs(entries) do
      if not (passed and begins(entry, passed)) then
        local verdict = visit(entry)
        if verdict == true then return '(' .. entry end
        passed = verdict or nil
      end
    end
    local last = entries[#entries]
    -- What begins with a name and a slash lies before that name followed by what comes after the slash.
    from = passed and begins(last, passed) and '[' .. passed:sub(1, -2) .. '0' or '(' .. last
  end
end

local function locks_below(path, most, from)
  local found, paths, looked = {}, 0, 0
  local on = each_below(PATHS, path, from, function(entry)
    local before = #found
    add_at(entry, found, any)
    if #found > before then paths = paths + 1 end
    looked = looked + 1
    return paths >= most or looked >= LOOKED or #found >= LOOKED
  end)
  return { tell_all(found), on }
end

local function locks_on_members(path, from)
  local found, looked = {}, 0
  local on = each_below(PATHS, path, from, function(entry)
    looked = looked + 1
    local slash = entry:find('/', #path + 2, true)
    if not slash then add_at(entry, found, any) end
    if looked >= LOOKED or #found >= LOOKED then return true end
    return slash and entry:sub(1, slash)
  end)
  return { tell_all(found), on }
end

local function conflict(path, scope, depth)
  local fits = scope == 'exclusive' and any or is_exclusive
  for _, lock in ipairs(locks_on(path)) do
    if fits(lock) then return lock, 'held' end
  end
  if depth ~= 'infinity' then return nil end
  local found = {}
  -- What has expired is swept: one of the first that are looked at is in the way.
  each_below(scope == 'exclusive' and PATHS or EXCLUSIVE, path, '', function(entry)
    add_at(entry, found, fits)
    return #found > 0
  end)
  return found[1], 'below'
end

local operations = {}

function operations.take(token, path, name, scope, depth, owner, user, milliseconds, most, most_shared)
  -- A command that was under way while Redis hung, and whose sender has not waited for it.
  if redis.call('EXISTS', given_up_key(token)) == 1 then return { 'full' } end
  if sweep() then return { 'again' } end
  local holder, where = conflict(path, scope, depth)
  if holder then return { where, tell(holder) } end
  local sum = tonumber(redis.call('HGET', FURTHER, 'sum') or 0)
  if redis.call('ZCARD', EXPIRY) + sum >= tonumber(most) then return { 'full' } end
  if scope == 'shared' and #locks_on(path) >= tonumber(most_shared) then return { 'full' } end
  local expires = string.format('%.0f', now + milliseconds)
  redis.call('HSET', lock_key(token), 'path', path, 'name', name, 'scope', scope, 'depth', depth, 'owner', owner,
    'user', user, 'expires', expires)
  redis.call('ZADD', at_key(path), redis.call('INCR', base .. ':taken'), token)
  redis.call('ZADD', PATHS, 0, path)
  if scope == 'exclusive' then redis.call('ZADD', EXCLUSIVE, 0, path) end
  redis.call('ZADD', EXPIRY, expires, token .. ' ' .. path)
  local further = math.floor((#owner + PATH_COPIES * #path) / LOCK_BYTES)
  if further > 0 then
    redis.call('HSET', FURTHER, token, further)
    redis.call('HINCRBY', FURTHER, 'sum', further)
  end
  keep_lock(token, path)
  return { 'taken', tell(find(token)) }
end

function operations.find(token)
  local lock = find(token)
  return lock and tell(lock) or false
end

function operations.on(path)
  return tell_all(locks_on(path))
end

function operations.members(path, from)
  return locks_on_members(path, from)
end

function operations.below(path, from, most)
  return locks_below(path, tonumber(most), from)
end

function operations.refresh(token, milliseconds)
  local lock = find(token)
  if not lock then return false end
  lock.expires = string.format('%.0f', now + milliseconds)
  redis.call('HSET', lock_key(token), 'expires', lock.expires)
  redis.call('ZADD', EXPIRY, lock.expires, token .. ' ' .. lock.path)
  keep_lock(token, lock.path)
  return tell(lock)
end

-- Ends locks by token; returns how many were in effect.
operations['end'] = function(...)
  local ended = 0
  for _, token in ipairs({ ... }) do
    local lock = find(token)
    if lock then
      drop(token, lock.path)
      ended = ended + 1
    end
  end
  return ended
end

-- Ends locks, whether they have been taken yet or will still be.
operations['give up'] = function(...)
  for _, token in ipairs({ ... }) do
    redis.call('SET', given_up_key(token), '', 'PX', FORGOTTEN)
    local lock = find(token)
    if lock then drop(token, lock.path) end
  end
  return 0
end

-- Says for a request that the locks of these tokens are to live on for a while; returns the tokens that do.
function operations.hold(request, user, milliseconds, ...)
  local kept = {}
  for _, token in ipairs({ ... }) do
    local lock = find(token)
    if lock and lock.user == user then
      redis.call('ZADD', hold_key(token), real + milliseconds, request)
      keep(hold_key(token))
      keep_lock(token, lock.path)
      kept[#kept + 1] = token
    end
  end
  return kept
end

function operations.release(request, ...)
  for _, token in ipairs({ ... }) do
    local path = redis.call('HGET', lock_key(token), 'path')
    redis.call('ZREM', hold_key(token), request)
    if path and not find(token) then drop(token, path) end
  end
  return 0
end

return operations[ARGV[1]](unpack(ARGV, 3))
