-- The write lease of one path (DAV-90), and those who wait for it.
--
-- KEYS[1]  name of whoever holds the lease; vanishes when it is not kept
-- KEYS[2]  names of those who wait, the first come first
-- KEYS[3]  by process, the last of its attempts that it has given up
-- ARGV[1]  operation; ARGV[2] process; ARGV[3] number of its attempt; ARGV[4] channel on which somebody is told to have
-- been given the lease; ARGV[5] milliseconds that the lease lives without being kept
--
-- A name is `process:attempt`. A process makes one attempt after the other for a path, so that of its attempts only the
-- last can be alive: it takes over from those before it.

local lease, queue, given_up = KEYS[1], KEYS[2], KEYS[3]
local operation, process, attempt = ARGV[1], ARGV[2], tonumber(ARGV[3])
local channel, life = ARGV[4], tonumber(ARGV[5])
local name = process .. ':' .. ARGV[3]

-- Milliseconds within which somebody who was given the lease has to take it up.
local GIVEN = 1000
-- Milliseconds after which a queue vanishes in which nobody has stood, and what was given up is forgotten: by then no
-- command is on its way any more.
local FORGOTTEN = 60000

-- Number of an attempt, if this process made it.
local function mine(other)
  if other and string.sub(other, 1, #process + 1) == process .. ':' then
    return tonumber(string.sub(other, #process + 2))
  end
end

local function last_given_up()
  return tonumber(redis.call('HGET', given_up, process) or 0)
end

-- Gives the lease to whoever has waited longest, or to nobody.
local function hand_on()
  local next = redis.call('LPOP', queue)
  if not next then
    redis.call('DEL', lease)
    return
  end
  redis.call('SET', lease, next, 'PX', GIVEN)
  redis.call('PUBLISH', channel, next)
end

local holder = redis.call('GET', lease)

if operation == 'take' then
  -- A command that was under way while Redis hung, and whose sender has not waited for it.
  if attempt <= last_given_up() then return 0 end
  -- Its holder has gone without a word: those who wait come first.
  if not holder and redis.call('LLEN', queue) > 0 then
    hand_on()
    holder = redis.call('GET', lease)
  end
  local held = mine(holder)
  if held and held > attempt then return 0 end
  if held or not holder then
    redis.call('SET', lease, name, 'PX', life)
    return 1
  end
  if not redis.call('LPOS', queue, name) then redis.call('RPUSH', queue, name) end
  redis.call('PEXPIRE', queue, FORGOTTEN)
  return 0
end

if operation == 'keep' then
  return holder == name and redis.call('PEXPIRE', lease, life) or 0
end

-- `give up`: as `leave`, for this attempt and all before it, whether they have come yet or will still come.
if operation == 'give up' then
  redis.call('HSET', given_up, process, math.max(attempt, last_given_up()))
  redis.call('PEXPIRE', given_up, FORGOTTEN)
  for _, waiting in ipairs(redis.call('LRANGE', queue, 0, -1)) do
    local earlier = mine(waiting)
    if earlier and earlier <= attempt then redis.call('LREM', queue, 0, waiting) end
  end
  local held = mine(holder)
  if held and held <= attempt then hand_on() end
  return 0
end

-- `leave`: gives the lease up, or the place in the queue.
if holder == name then
  hand_on()
else
  redis.call('LREM', queue, 0, name)
end
return 0
