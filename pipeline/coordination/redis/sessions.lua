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
  return 1
end

-- Takes away what is over by now of values that were seen to be.
if operation == 'sweep' then
  local id = ARGV[3]
  for place = 4, #ARGV do
    local ends = string.match(redis.call('HGET', held_key(id), ARGV[place]) or '', '^(%d+) ')
    if ends and tonumber(ends) <= now then redis.call('HDEL', held_key(id), ARGV[place]) end
  end
  return 0
end

-- `take`
local id, name = ARGV[3], ARGV[4]
local value = redis.call('HGET', held_key(id), name)
redis.call('HDEL', held_key(id), name)
return value
