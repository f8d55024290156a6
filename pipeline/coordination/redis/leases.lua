-- The write lease of one path (DAV-90), and those who wait for it.
--
-- KEYS[1]  name of whoever holds the lease; vanishes when it is not kept
-- KEYS[2]  names of those who wait, the first come first
-- ARGV[1]  operation; ARGV[2] name; ARGV[3] channel on which somebody is told to have been given the lease;
-- ARGV[4]  milliseconds that the lease lives without being kept
--
-- A name stands for one attempt of one process to have the lease.

local lease, queue = KEYS[1], KEYS[2]
local operation, name, channel, life = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])

-- Milliseconds within which somebody who was given the lease has to take it up.
local GIVEN = 1000
-- Milliseconds after which a queue vanishes in which nobody has stood.
local FORGOTTEN = 60000

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
  if not holder and redis.call('LLEN', queue) == 0 then
    redis.call('SET', lease, name, 'PX', life)
    return 1
  end
  -- Its holder has gone without a word: those who wait come first.
  if not holder then
    hand_on()
    holder = redis.call('GET', lease)
  end
  if holder == name then
    redis.call('PEXPIRE', lease, life)
    return 1
  end
  if not redis.call('LPOS', queue, name) then redis.call('RPUSH', queue, name) end
  redis.call('PEXPIRE', queue, FORGOTTEN)
  return 0
end

if operation == 'keep' then
  return holder == name and redis.call('PEXPIRE', lease, life) or 0
end

-- `leave`: gives the lease up, or the place in the queue.
if holder == name then
  hand_on()
else
  redis.call('LREM', queue, 0, name)
end
return 0
