-- Changes of the sessions of one site (SSN-4 to SSN-7), each in one step.
--
-- KEYS[1]  what all keys begin with, the site in braces, so that they lie in one slot of a cluster
-- ARGV[1]  operation; ARGV[2] unix milliseconds; then the operation's own
--
--   :signed:<id>  "<unix milliseconds of its end> <sign-in as JSON>"
--   :held:<id>    hash: "<unix milliseconds of its end> <value>" by name
--   :ended        ids of sessions that have ended, by the unix milliseconds until which that has to be known

local base, operation, now = KEYS[1], ARGV[1], tonumber(ARGV[2])

local function signed_key(id) return base .. ':signed:' .. id end
local function held_key(id) return base .. ':held:' .. id end
local ENDED = base .. ':ended'

local function has_ended(id)
  local till = redis.call('ZSCORE', ENDED, id)
  return till and tonumber(till) > now
end

local function left(expires) return math.max(1, math.ceil(tonumber(expires) - now)) end

-- Lets a key live at least that long.
local function live(key, expires)
  redis.call('PEXPIRE', key, math.max(left(expires), redis.call('PTTL', key)))
end

-- A value that is not over; one that is goes.
local function lasting(id, name)
  local value = redis.call('HGET', held_key(id), name)
  local ends = value and string.match(value, '^(%d+) ')
  if ends and tonumber(ends) > now then return value end
  if value then redis.call('HDEL', held_key(id), name) end
  return nil
end

local function finish(id, till, channel, message)
  redis.call('DEL', signed_key(id), held_key(id))
  redis.call('ZADD', ENDED, till, id)
  redis.call('ZREMRANGEBYSCORE', ENDED, '-inf', now)
  live(ENDED, till)
  redis.call('PUBLISH', channel, message)
end

if operation == 'sign-in' then
  local follows, till, channel, message, id, expires, sign_in = unpack(ARGV, 3)
  if has_ended(follows) then return 0 end
  if redis.call('EXISTS', held_key(follows)) == 1 then redis.call('RENAME', held_key(follows), held_key(id)) end
  redis.call('SET', signed_key(id), expires .. ' ' .. sign_in, 'PX', left(expires))
  finish(follows, till, channel, message)
  return 1
end

if operation == 'end' then
  local id, till, channel, message = unpack(ARGV, 3)
  finish(id, till, channel, message)
  return 1
end

if operation == 'prolong' then
  local id, expires = ARGV[3], ARGV[4]
  local known = redis.call('GET', signed_key(id))
  if not known then return 0 end
  local ends, sign_in = string.match(known, '^(%d+) (.*)$')
  if tonumber(ends) <= now then return 0 end
  redis.call('SET', signed_key(id), expires .. ' ' .. sign_in, 'PX', left(expires))
  return 1
end

if operation == 'keep' then
  local id, name, expires, value = unpack(ARGV, 3)
  if has_ended(id) then return 0 end
  redis.call('HSET', held_key(id), name, expires .. ' ' .. value)
  live(held_key(id), expires)
  -- What is over would stay as long as anything else that the session holds. A few are looked at, from any place (Redis 6.0 has
  -- no HRANDFIELD), as each write adds one at most.
  local _, found = unpack(redis.call('HSCAN', held_key(id), redis.call('TIME')[2], 'COUNT', 5))
  for place = 1, #found, 2 do lasting(id, found[place]) end
  return 1
end

if operation == 'values' then
  local id, prefix = ARGV[3], ARGV[4]
  local found = {}
  for _, name in ipairs(redis.call('HKEYS', held_key(id))) do
    if string.sub(name, 1, #prefix) == prefix then
      local value = lasting(id, name)
      if value then
        found[#found + 1] = name
        found[#found + 1] = value
      end
    end
  end
  return found
end

-- `take`
local id, name = ARGV[3], ARGV[4]
local value = redis.call('HGET', held_key(id), name)
redis.call('HDEL', held_key(id), name)
return value
