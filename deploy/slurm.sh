#!/usr/bin/env bash
# A corpus on a Slurm cluster: an array of generate jobs, then one that puts the parts together and checks them.
#
#   PARTS=64 OUT=/scratch/corpus deploy/slurm.sh --recipe paper --seed 7
#   PARTS=64 OUT=s3://lab/corpus deploy/slurm.sh --recipe paper --seed 7    # all parts into one place of a store
#
# Everything after the script's name goes to `magnetar generate`. A task that was killed, or lost with its node, is run again
# by `scontrol requeue`, or by this script once more: it goes on where it stopped. Logs of a corpus in a store go to the folder
# it is started in, or to LOGS.
set -euo pipefail
parts=${PARTS:?how many parts: PARTS=64}
out=${OUT:?where to, on storage that all nodes see: OUT=/scratch/corpus}
magnetar=${MAGNETAR:-magnetar}
cpus=${CPUS:-8}
flags=
if [ $# -gt 0 ]; then
  printf -v flags '%q ' "$@"
fi
printf -v place '%q' "$out"
# The last job names the parts that are missing, if any are, and fails then.
check="$magnetar verify $place --sample 1000"
case $out in
  s3://* | gs://* | az://*)
    logs=${LOGS:-magnetar}
    ;;
  *)
    logs=${LOGS:-$out}
    check="$magnetar merge $place.parts/* --complete --out $place && $check"
    place="$place.parts/\$SLURM_ARRAY_TASK_ID"
    ;;
esac

array=$(sbatch --parsable --job-name=magnetar --array="1-$parts" --cpus-per-task="$cpus" --requeue \
  --output="$logs.part-%a.log" \
  --wrap "$magnetar generate $flags--part auto --threads \$SLURM_CPUS_PER_TASK --out $place")
sbatch --parsable --job-name=magnetar-merge --dependency="afterany:$array" --output="$logs.merge.log" --wrap "$check"
